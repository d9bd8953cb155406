"""The contents of a pack for the latentsync engine."""

from typing import List, Optional

from .export_role import Role
from .networks.autoencoder import autoencoder_roles
from .networks.deep_cache import interval_role
from .networks.guidance import both_conditions
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


#: Whether a call of the UNet computes one condition of guidance, or both; not faster where it was measured (ADR 43).
CONDITIONS = ("apart", "together")


def pictures_for(provider: str, resolution: int) -> int:
    """Pictures per call of the autoencoder: on a card those of musetalk's batch by their pixels, 8 of 256 and 2 of 512."""
    return max(1, 8 * 256**2 // resolution**2) if provider == "cuda" else 1


def latentsync_roles(
    whisper: Role, vae, unet, params: dict, deep_cache: Optional[int] = None, conditions: str = "apart"
) -> List[Role]:
    """
    `params` are the manifest's; the networks are torch's. `deep_cache` is the number of steps of which one is computed with
    the whole network, networks.deep_cache.INTERVAL upstream; without it every step is, and may compute both conditions.
    """
    latent, audio = params["latent"], params["audio"]
    if deep_cache is not None:
        denoising = interval_role(unet, latent, audio, deep_cache, params["guidance"] > 1)
    else:
        denoising = latentsync_unet_role(unet, latent, audio)
        denoising = both_conditions(denoising) if conditions == "together" else denoising
    return [whisper, *autoencoder_roles(vae, latent, params["resolution"]), denoising]


def latentsync_params(resolution: int, latent: dict, audio: dict, mask: dict, window: int = 16, batch: int = 1) -> dict:
    """The settings of upstream's inference.sh. `batch` is the number of pictures per call of the autoencoder."""
    return {
        "resolution": resolution,
        "latent": latent,
        **({} if batch == 1 else {"batch": batch}),
        "audio": audio,
        "window": window,
        "schedule": SCHEDULE,
        "guidance": 1.5,
        "seed": 1247,
        "mask": mask,
    }


def distilled_params(params: dict, timesteps: List[int], guidance: float) -> dict:
    """Those of a network that was distilled to these timesteps and this guidance."""
    return {**params, "schedule": {**params["schedule"], "steps": timesteps}, "guidance": guidance}
