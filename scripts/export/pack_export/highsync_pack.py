"""The contents of a pack for the highsync engine."""

from typing import List, Optional, Sequence

from .export_role import Role
from .networks.autoencoder import autoencoder_roles
from .networks.mutual_attention import highsync_unet_roles

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


#: Where the reference network runs. `banks`: by itself, once per frame; its banks are kept in memory and fed to the
#: denoising network. `latents`: in the denoising network's graph, in every step again, as upstream runs it.
REFERENCES = ("banks", "latents")


def reference_for(provider: str) -> str:
    """On a CPU, banks save a quarter of the time. A GPU would get 554 MB of them in every call, out of 11 GB of memory."""
    return "banks" if provider == "cpu" else "latents"


def highsync_roles(whisper: Role, vae, reference, denoiser, params: dict, referenced_by: str) -> List[Role]:
    """
    `params` are the manifest's; `reference` and `denoiser` as highsync_unet_roles expects them; `referenced_by` is one
    of REFERENCES.
    """
    shapes = (params["latent"], params["audio"], params["window"])
    return [
        whisper,
        *autoencoder_roles(vae, params["latent"], params["resolution"]),
        *highsync_unet_roles(reference, denoiser, *shapes, one_graph=referenced_by == "latents"),
    ]


def highsync_params(
    resolution: int,
    latent: dict,
    audio: dict,
    mask: dict,
    stretch: int,
    guidance_interval: Optional[Sequence[float]] = None,
) -> dict:
    """
    The settings of upstream's configuration and of its pipeline, which guides all steps. `guidance_interval` are the
    noise levels between which it is to.
    """
    limited = {} if guidance_interval is None else {"guidanceInterval": dict(zip(("low", "high"), guidance_interval))}
    return {
        "resolution": resolution,
        "latent": latent,
        "audio": audio,
        "window": 12,
        "overlap": 3,
        "schedule": SCHEDULE,
        "guidance": 3.5,
        **limited,
        "seed": 42,
        "mask": mask,
        "stretch": stretch,
    }
