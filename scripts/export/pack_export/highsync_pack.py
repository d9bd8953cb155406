"""The contents of a pack for the highsync engine."""

from pathlib import Path

from .export_role import ExportOptions, Role
from .networks.autoencoder import autoencoder_roles
from .networks.mutual_attention import highsync_unet_roles
from .write_pack import PackLabel, write_pack

#: configs/inference/default.yaml, with the defaults of diffusers' DDIMScheduler for what it leaves open.
SCHEDULE = {
    "trainSteps": 1000,
    "betaStart": 0.00085,
    "betaEnd": 0.012,
    "betaSchedule": "linear",
    "prediction": "v_prediction",
    "spacing": "trailing",
    "stepsOffset": 1,
    "finalAlpha": "one",
    "zeroTerminalSnr": True,
    "steps": 20,
}


def write_highsync_pack(
    out: Path, label: PackLabel, whisper: Role, vae, reference, denoiser, params: dict, options: ExportOptions
) -> None:
    """`params` are the manifest's; `reference` and `denoiser` as highsync_unet_roles expects them."""
    roles = [
        whisper,
        *autoencoder_roles(vae, params["latent"], params["resolution"]),
        *highsync_unet_roles(reference, denoiser, params["latent"], params["audio"], params["window"]),
    ]
    write_pack(out, label, roles, params, options)


def highsync_params(resolution: int, latent: dict, audio: dict, mask: dict, stretch: int) -> dict:
    """The settings of upstream's configuration and of its pipeline."""
    return {
        "resolution": resolution,
        "latent": latent,
        "audio": audio,
        "window": 12,
        "overlap": 3,
        "schedule": SCHEDULE,
        "guidance": 3.5,
        "seed": 42,
        "mask": mask,
        "stretch": stretch,
    }
