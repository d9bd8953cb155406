"""The packs that golden numbers are computed with. Those of the small networks need no upstream code."""

from pathlib import Path
from types import SimpleNamespace
from typing import Optional

import torch
from pack_export.export_role import ExportOptions
from pack_export.highsync_pack import highsync_params, highsync_roles
from pack_export.latentsync_pack import latentsync_params, latentsync_roles
from pack_export.mask_spans import generated_spans
from pack_export.musetalk_pack import musetalk_params, musetalk_roles
from pack_export.networks.autoencoder import latent_params
from pack_export.networks.motion_masks import mask_rectangle
from pack_export.networks.mutual_attention import with_banks
from pack_export.networks.whisper import HuggingFaceStates, OpenaiStates, audio_params, whisper_role
from pack_export.write_pack import PackLabel, write_pack

from .inputs import mask_picture
from .small_highsync import SmallDenoiserBlock, SmallReferenceBlock

OPTIONS = ExportOptions(data_file_from=0)
#: Denoising steps: upstream's own networks are slow, and a few steps test the same as twenty.
STEPS = {"small": 20, "reduced": 3}
#: LatentSync's packs by how their denoising graph computes the conditions of guidance: both must draw the same pictures.
LATENTSYNC_PACKS = {"pack": "apart", "pack-together": "together"}
SMALL_BLOCKS = (SmallReferenceBlock, SmallDenoiserBlock)
#: HighSync's packs by what their denoising graph takes of the reference: both must draw the same pictures.
HIGHSYNC_PACKS = {"pack": "banks", "pack-latents": "latents"}


#: Licenses of the classes of the reduced networks. A traced graph is not their code, but this leaves no doubt.
LICENSES = {"musetalk": "Apache-2.0", "latentsync": "Apache-2.0", "highsync": "MIT AND Apache-2.0"}
SOURCES = {"small": "Random weights; for tests only.", "reduced": "Upstream's classes, random weights; for tests only."}


def label(engine: str, networks: str) -> PackLabel:
    spdx = LICENSES[engine] if networks == "reduced" else "MIT"
    return PackLabel(engine, f"{networks}-{engine}", "1.0.0", spdx, SOURCES[networks])


def musetalk_settings(networks: SimpleNamespace) -> dict:
    return musetalk_params("1.5", latent_params(networks.vae, networks.side), _audio("hf", networks), networks.side)


def write_musetalk(out: Path, label: PackLabel, networks: SimpleNamespace, params: dict) -> None:
    whisper = _whisper(HuggingFaceStates, networks)
    write_pack(out, label, musetalk_roles(whisper, networks.vae, networks.unet, params), params, OPTIONS)


def latentsync_settings(networks: SimpleNamespace, steps: int) -> dict:
    latent = latent_params(networks.vae, networks.side)
    mask = {"size": networks.side, "spans": generated_spans(mask_picture(networks.side))}
    return _in_steps(latentsync_params(networks.side, latent, _audio("openai", networks), mask), steps)


def write_latentsync(
    out: Path,
    label: PackLabel,
    networks: SimpleNamespace,
    params: dict,
    conditions: str = "apart",
    deep_cache: Optional[int] = None,
) -> None:
    whisper = _whisper(OpenaiStates, networks)
    if conditions == "together":
        # As for a card, pictures pass the autoencoder together too.
        params = {**params, "batch": 8}
    roles = latentsync_roles(whisper, networks.vae, networks.unet, params, deep_cache, conditions)
    write_pack(out, label, roles, params, OPTIONS)


def small_latent_mask() -> torch.Tensor:
    """[h, w], 1 where a latent of the small networks is generated."""
    mask = torch.zeros(8, 8)
    mask[3:7, 1:7] = 1
    return mask


def highsync_settings(networks: SimpleNamespace, mask: torch.Tensor, steps: int) -> dict:
    latent = latent_params(networks.vae, networks.side)
    params = highsync_params(networks.side, latent, _audio("openai", networks), mask_rectangle(mask), stretch=250)
    return _in_steps(params, steps)


def write_highsync(out: Path, label: PackLabel, networks: SimpleNamespace, kinds: tuple, params: dict, referenced_by: str) -> None:
    banked = with_banks(networks.reference, networks.denoiser, kinds)
    roles = highsync_roles(_whisper(OpenaiStates, networks), networks.vae, *banked, params, referenced_by)
    write_pack(out, label, roles, params, OPTIONS)


def _in_steps(params: dict, steps: int) -> dict:
    return {**params, "schedule": {**params["schedule"], "steps": steps}}


def _audio(variant: str, networks: SimpleNamespace) -> dict:
    return audio_params(variant, networks.states, networks.width)


def _whisper(states: type, networks: SimpleNamespace):
    return whisper_role(states(networks.whisper), networks.states, networks.width)
