"""The contents of a pack for the musetalk engine."""

from typing import List

from .export_role import Role
from .networks.autoencoder import autoencoder_roles
from .networks.face_parsing import face_parsing_role
from .networks.unet import musetalk_unet_role


def musetalk_roles(whisper: Role, vae, unet, params: dict, parser_net=None) -> List[Role]:
    """`params` are the manifest's; the networks are torch's."""
    return [
        whisper,
        *autoencoder_roles(vae, params["latent"], params["resolution"]),
        musetalk_unet_role(unet, params["latent"], params["audio"]),
        *([] if parser_net is None else [face_parsing_role(parser_net)]),
    ]


def musetalk_params(version: str, latent: dict, audio: dict, resolution: int, shift: int = 0) -> dict:
    """The settings that upstream's inference uses by default for a version."""
    newer = version == "1.5"
    return {
        "resolution": resolution,
        "latent": latent,
        "audio": {**audio, "positionalEncoding": "outside"},
        "timestep": 0,
        "batch": 8,
        "crop": {"shift": 0 if newer else shift, "margin": 10 if newer else 0},
        "mask": {"mode": "jaw" if newer else "raw", "leftCheek": 90, "rightCheek": 90, "blur": 0.05},
    }
