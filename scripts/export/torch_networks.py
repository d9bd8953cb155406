"""
The networks of the engines as they run in PyTorch: the modules that the exporters trace, with upstream's own classes of
published size in them, and the guided steps of LatentSync and HighSync as upstream takes them. Weights are random.
"""

from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Callable, Dict, Iterator, List, Optional, Sequence

import torch
from checkpoint_manifests import RELEASES, SD_UNET, SD_VAE, WHISPER_TINY, latentsync_unet
from golden import networks as golden_networks
from golden.packs import SMALL_BLOCKS
from golden_highsync import use_single_precision
from pack_export.export_role import Role
from pack_export.networks.autoencoder import autoencoder_roles, latent_params
from pack_export.networks.deep_cache import Shallow, deep_channels
from pack_export.networks.motion_masks import use_plain_masks
from pack_export.networks.mutual_attention import highsync_unet_roles, upstream_blocks, with_banks
from pack_export.networks.unet import latentsync_unet_role, musetalk_unet_role
from pack_export.tensor_spec import TensorSpec

#: Pictures of the autoencoder and faces of musetalk in a run; frames of a window.
BATCH, LATENTSYNC_WINDOW, HIGHSYNC_WINDOW = 8, 16, 12
FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}

#: Runs of each network per output frame, as upstream runs them: 20 steps, both conditions in a batch. With DeepCache, 7 of
#: them are whole.
AUTOENCODER = {"vae_encoder": 2 / BATCH, "vae_decoder": 1 / BATCH}
PLANS: Dict[str, Dict[str, Dict[str, float]]] = {
    "musetalk": {"musetalk": {**AUTOENCODER, "unet": 1 / BATCH}},
    "latentsync": {
        f"latentsync-{side}{name}": {
            **{f"{role}-{side}": runs for role, runs in AUTOENCODER.items()},
            **{f"{role}-{side}": steps / LATENTSYNC_WINDOW for role, steps in denoising.items()},
        }
        for side in (256, 512)
        for name, denoising in (
            ("", {"unet3d_guided": 20}),
            ("-deep-cache", {"unet3d_guided": 7, "unet3d_shallow_guided": 13}),
            ("-one-condition-at-a-time", {"unet3d": 40}),
        )
    },
    "highsync": {
        f"highsync{name}": {
            **{role: 1 / BATCH for role in AUTOENCODER},
            **{role: 20 / (HIGHSYNC_WINDOW - 3) for role in denoising},
        }
        for name, denoising in (
            ("", ("denoising_guided",)),
            ("-one-condition-at-a-time", ("denoising_unet", "denoising_unet_unconditional")),
        )
    },
}


@dataclass(frozen=True)
class Network:
    name: str
    module: torch.nn.Module
    inputs: Sequence[TensorSpec]

    def feeds(self, device: str, dtype: torch.dtype, channels_last: bool) -> List[torch.Tensor]:
        return [random_input(spec, device, dtype, channels_last) for spec in self.inputs]


def random_input(spec: TensorSpec, device: str, dtype: torch.dtype, channels_last: bool) -> torch.Tensor:
    if spec.dtype == "int64":
        return torch.full(spec.dims, 500, device=device)
    # Audio has no channels, though as many dimensions as a picture.
    layout = FORMATS[len(spec.dims)] if channels_last and spec.key != "audio" else torch.contiguous_format
    return torch.randn(spec.dims, device=device, dtype=dtype).to(memory_format=layout)


def network_of(role: Role, sizes: Dict[str, int], suffix: str = "", conditions: int = 1) -> Network:
    """The network of a role with these sizes of its free dimensions, and as many `conditions` in its batch."""

    def sized(spec: TensorSpec) -> TensorSpec:
        first, *others = spec.shape(sizes)
        return TensorSpec(spec.key, (first if spec.dtype == "int64" else conditions * first, *others), spec.dtype)

    return Network(f"{role.name}{suffix}", role.module, [sized(spec) for spec in role.inputs])


def musetalk(parts: SimpleNamespace) -> Iterator[Network]:
    latent = latent_params(parts.vae, parts.side)
    yield network_of(musetalk_unet_role(parts.unet, latent, vars(parts)), {"batch": BATCH})
    yield from autoencoder(parts, parts.side)


def latentsync(parts: SimpleNamespace) -> Iterator[Network]:
    """At the size of release 1.5, and of 1.6, which is twice as large."""
    for side in (parts.side, 2 * parts.side):
        latent, frames = latent_params(parts.vae, side), {"frames": LATENTSYNC_WINDOW}
        whole = latentsync_unet_role(parts.unet, latent, vars(parts))
        yield network_of(whole, frames, f"-{side}")
        yield network_of(whole, frames, f"_guided-{side}", conditions=2)
        # The small network has no blocks of which features could be kept.
        if hasattr(parts.unet, "up_blocks"):
            deep = TensorSpec("deep", [1, deep_channels(parts.unet), "frames", latent["height"], latent["width"]])
            shallow = replace(whole, name="unet3d_shallow", module=Shallow(parts.unet), inputs=[*whole.inputs, deep])
            yield network_of(shallow, frames, f"_guided-{side}", conditions=2)
        yield from autoencoder(parts, side, f"-{side}")


def highsync(parts: SimpleNamespace) -> Iterator[Network]:
    guided = None
    if parts.kinds != SMALL_BLOCKS:
        # Upstream's control and the exporter each change the blocks.
        guided = GuidedStep(deepcopy(parts.reference), deepcopy(parts.denoiser))
    banked = with_banks(parts.reference, parts.denoiser, parts.kinds)
    latent = latent_params(parts.vae, parts.side)
    roles = highsync_unet_roles(*banked, latent, vars(parts), HIGHSYNC_WINDOW, one_graph=True)
    yield from (network_of(role, {}) for role in roles)
    if guided:
        noise, timestep, audio, reference = network_of(roles[0], {}).inputs
        pair = [TensorSpec(spec.key, (2, *spec.dims[1:])) for spec in (noise, audio)]
        yield Network("denoising_guided", guided, [pair[0], timestep, pair[1], reference])
    yield from autoencoder(parts, parts.side)


class GuidedStep(torch.nn.Module):
    """A step of HighSync's pipeline: the reference network, and then both conditions as one batch."""

    def __init__(self, reference: torch.nn.Module, denoiser: torch.nn.Module):
        super().__init__()
        from src.models.mutual_self_attention import ReferenceAttentionControl

        if next(denoiser.parameters()).device.type == "cpu":
            use_single_precision(ReferenceAttentionControl)
        self.reference, self.denoiser = reference, denoiser
        guided = {"do_classifier_free_guidance": True, "batch_size": 1, "fusion_blocks": "full"}
        self._writer = ReferenceAttentionControl(reference, mode="write", **guided)
        self._reader = ReferenceAttentionControl(denoiser, mode="read", **guided)

    def forward(self, latent, timestep, audio, reference):
        self.reference(reference, torch.zeros_like(timestep), encoder_hidden_states=None, return_dict=False)
        self._reader.update(self._writer, do_classifier_free_guidance=True)
        given = {"encoder_hidden_states": None, "audio_cond_fea": audio, "return_dict": False}
        prediction = self.denoiser(latent, timestep, **given)[0]
        self._writer.clear()
        self._reader.clear()
        return prediction


def autoencoder(parts: SimpleNamespace, side: int, suffix: str = "") -> Iterator[Network]:
    for role in autoencoder_roles(parts.vae, latent_params(parts.vae, side), side):
        yield network_of(role, {"batch": BATCH}, suffix)


ENGINES: Dict[str, Callable[[SimpleNamespace], Iterator[Network]]] = {
    "musetalk": musetalk,
    "latentsync": latentsync,
    "highsync": highsync,
}


def published(engine: str, upstream: Optional[Path]) -> SimpleNamespace:
    """Upstream's networks with torch's initial weights, on its default device."""
    from diffusers import AutoencoderKL, UNet2DConditionModel

    width, _, layers = WHISPER_TINY
    parts = SimpleNamespace(side=512 if engine == "highsync" else 256, states=layers + 1, width=width)
    parts.vae = AutoencoderKL(**SD_VAE)
    if engine == "musetalk":
        parts.unet = UNet2DConditionModel(in_channels=8, cross_attention_dim=width, **SD_UNET)
    elif engine == "latentsync":
        parts.unet = latentsync_unet(upstream, "configs/unet/stage2.yaml")
    else:
        drafts = islice(RELEASES["highsync"](upstream), 2)
        parts.reference, parts.denoiser = (draft.network for draft in drafts)
    return parts


def networks_of(engine: str, size: str, upstream: Optional[Path], device: str, dtype: torch.dtype) -> List[Network]:
    if engine == "highsync" and size != "small":
        from src.models.motion_module import VanillaTemporalModule

        use_plain_masks(VanillaTemporalModule, upstream / "masks")
    if size == "published":
        # Where they are to run, five gigabytes of random numbers take no time.
        with torch.device(device):
            parts = published(engine, upstream)
    else:
        parts = golden_networks.small(engine) if size == "small" else getattr(golden_networks, f"reduced_{engine}")()
    for part in vars(parts).values():
        if isinstance(part, torch.nn.Module):
            part.to(device, dtype).eval().requires_grad_(False)
    if engine == "highsync":
        parts.kinds = SMALL_BLOCKS if size == "small" else upstream_blocks()
    return list(ENGINES[engine](parts))
