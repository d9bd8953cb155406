"""The contents of a pack for the latentsync engine."""

from pathlib import Path

from .export_role import ExportOptions, Role
from .networks.autoencoder import autoencoder_roles
from .networks.unet import latentsync_unet_role
from .write_pack import PackLabel, write_pack

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


def write_latentsync_pack(out: Path, label: PackLabel, whisper: Role, vae, unet, params: dict, options: ExportOptions) -> None:
    """`params` are the manifest's; the networks are torch's."""
    roles = [
        whisper,
        *autoencoder_roles(vae, params["latent"], params["resolution"]),
        latentsync_unet_role(unet, params["latent"], params["audio"]),
    ]
    write_pack(out, label, roles, params, options)


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
