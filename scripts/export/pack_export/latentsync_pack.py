"""The contents of a pack for the latentsync engine."""

from typing import List

from .export_role import Role
from .networks.autoencoder import autoencoder_roles
from .networks.unet import latentsync_unet_role

#: configs/scheduler_config.json, with the defaults of diffusers' DDIMScheduler for what it leaves open.
SCHEDULE = {
    "trainSteps": 1000,
    "betaStart": 0.00085,
    "betaEnd": 0.012,
    "betaSchedule": "scaled_linear",
    "prediction": "epsilon",
    "spacing": "leading",
    "stepsOffset": 1,
    "finalAlpha": "first",
    "zeroTerminalSnr": False,
    "steps": 20,
}


def latentsync_roles(whisper: Role, vae, unet, params: dict) -> List[Role]:
    """`params` are the manifest's; the networks are torch's."""
    return [
        whisper,
        *autoencoder_roles(vae, params["latent"], params["resolution"]),
        latentsync_unet_role(unet, params["latent"], params["audio"]),
    ]


def latentsync_params(resolution: int, latent: dict, audio: dict, mask: dict, window: int = 16) -> dict:
    """
    The settings of upstream's inference.sh, without its DeepCache, which reuses the deep features of two out of three
    steps.
    """
    return {
        "resolution": resolution,
        "latent": latent,
        "audio": audio,
        "window": window,
        "schedule": SCHEDULE,
        "guidance": 1.5,
        "seed": 1247,
        "mask": mask,
    }
