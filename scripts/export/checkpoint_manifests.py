"""
Writes the lists of tensors that the exporters compare checkpoints with, from upstream's own classes at published size.
No weights are needed and none are made (torch 2's meta device).

    python scripts/export/checkpoint_manifests.py latentsync --upstream LatentSync --out scripts/export/checkpoints

A new release gets an entry in RELEASES. What a published file may hold or lack beyond its network's own tensors is
decided from upstream's loaders and stands here with the reason.
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable, Mapping, Optional

import torch
from pack_export.checkpoint_check import tensors_of
from pack_export.checkpoint_file import Tensor
from pack_export.checkpoint_manifest import Manifest
from pack_export.command_line import use_upstream
from pack_export.networks.motion_masks import use_plain_masks

SD_VAE = {
    "block_out_channels": (128, 256, 512, 512),
    "down_block_types": ("DownEncoderBlock2D",) * 4,
    "up_block_types": ("UpDecoderBlock2D",) * 4,
    "layers_per_block": 2,
    "latent_channels": 4,
    "sample_size": 256,
}
#: Stable Diffusion 1's UNet; its other sizes are the defaults of its class.
SD_UNET = {"sample_size": 64, "attention_head_dim": 8}
#: diffusers' loader converts these names of before release 0.12, which the published autoencoder may have.
OLD_ATTENTION = {".query.": ".to_q.", ".key.": ".to_k.", ".value.": ".to_v.", ".proj_attn.": ".to_out.0."}
#: Width, heads and layers of Whisper tiny, and its words.
WHISPER_TINY, VOCABULARY = (384, 6, 4), 51865
COUNTERS = {"num_batches_tracked": "a counter of training steps, which files of before torch 0.4.1 lack"}


@dataclass
class Draft:
    """A manifest to write: the network, and how the published file differs from it."""

    name: str
    title: str
    network: torch.nn.Module
    under: Optional[str] = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    #: Ends of the names of tensors that the file may lack, with the reason.
    optional: Mapping[str, str] = field(default_factory=dict)
    #: Tensors that the file may hold in addition, with the reason.
    additional: Mapping[str, tuple] = field(default_factory=dict)


def musetalk(_: Path) -> Iterable[Draft]:
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from musetalk.utils.face_parsing import model, resnet
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    # The sizes of models/musetalkV15/musetalk.json, which is published with the weights.
    unet = UNet2DConditionModel(in_channels=8, cross_attention_dim=384, **SD_UNET)
    yield Draft("musetalk-unet", "the UNet of MuseTalk 1.5 or 1.0", unet)
    yield Draft("sd-vae-ft-mse", "the autoencoder sd-vae-ft-mse", AutoencoderKL(**SD_VAE), renamed=OLD_ATTENTION)
    width, heads, layers = WHISPER_TINY
    config = WhisperConfig(
        d_model=width,
        vocab_size=VOCABULARY,
        **{f"{side}_layers": layers for side in ("encoder", "decoder")},
        **{f"{side}_attention_heads": heads for side in ("encoder", "decoder")},
        **{f"{side}_ffn_dim": 4 * width for side in ("encoder", "decoder")},
    )
    yield Draft(
        "whisper-tiny-transformers",
        "Whisper tiny in transformers' format",
        WhisperForConditionalGeneration(config),
        optional={"proj_out.weight": "equal to the decoder's embedding, and unknown to WhisperModel, which is loaded"},
    )
    resnet.Resnet18.init_weight = lambda *_: None
    yield Draft("face-parsing", "the face parser BiSeNet (79999_iter.pth)", model.BiSeNet(""), optional=COUNTERS)
    unused = "the classifier, which upstream's loader skips"
    yield Draft(
        "face-parsing-resnet18",
        "the ResNet-18 below the face parser (resnet18-5c106cde.pth)",
        resnet.Resnet18(""),
        optional=COUNTERS,
        additional={"fc.weight": ([1000, 512], unused), "fc.bias": ([1000], unused)},
    )


def latentsync_unet(upstream: Path, config: str) -> torch.nn.Module:
    from latentsync.models.unet import UNet3DConditionModel
    from omegaconf import OmegaConf

    return UNet3DConditionModel.from_config(OmegaConf.to_container(OmegaConf.load(upstream / config).model))


def latentsync(upstream: Path) -> Iterable[Draft]:
    from latentsync.whisper.whisper.model import ModelDimensions, Whisper

    yield Draft(
        "latentsync-unet",
        "the UNet of LatentSync 1.5 (256 pixels) or 1.6 (512 pixels)",
        latentsync_unet(upstream, "configs/unet/stage2.yaml"),
        under="state_dict",
        optional={"pos_encoder.pe": "computed when the network is made; upstream's loader accepts its absence"},
    )
    # Bands; positions, width, heads and layers of the encoder; words; the same of the decoder.
    dimensions = ModelDimensions(80, 1500, *WHISPER_TINY, VOCABULARY, 448, *WHISPER_TINY)
    yield Draft("whisper-tiny", "Whisper tiny in OpenAI's format", Whisper(dimensions), under="model_state_dict")


def latentsync_1_0(upstream: Path) -> Iterable[Draft]:
    """At commit 75a4a17^. Only to be recognized: the code of 1.5 takes it without a word."""
    unet = latentsync_unet(upstream, "configs/unet/second_stage.yaml")
    yield Draft("latentsync-1.0-unet", "the UNet of LatentSync 1.0, which has no exporter", unet, under="state_dict")


def highsync(upstream: Path) -> Iterable[Draft]:
    import diffusers
    from omegaconf import OmegaConf
    from src.models.motion_module import VanillaTemporalModule
    from src.models.unet_2d_condition import UNet2DConditionModel
    from src.models.unet_3d_echo import EchoUNet3DConditionModel

    use_plain_masks(VanillaTemporalModule, upstream / "masks")
    config = OmegaConf.load(upstream / "configs" / "inference" / "default.yaml")
    base = {**SD_UNET, "cross_attention_dim": 768}
    yield Draft("highsync-reference-unet", "HighSync's reference UNet", UNet2DConditionModel(**base))
    denoising = EchoUNet3DConditionModel.from_config(base, **OmegaConf.to_container(config.unet_additional_kwargs))
    yield Draft("highsync-denoising-unet", "HighSync's denoising UNet", denoising)
    published = diffusers.UNet2DConditionModel(**base)
    yield Draft("sd-image-variations-unet", "the UNet of sd-image-variations-diffusers", published)


RELEASES = {"musetalk": musetalk, "latentsync": latentsync, "latentsync-1.0": latentsync_1_0, "highsync": highsync}


def manifest_of(draft: Draft) -> Manifest:
    tensors = dict(tensors_of(draft.network))
    optional = {key for key in tensors if key.endswith(tuple(draft.optional))} | draft.additional.keys()
    tensors.update({key: Tensor("float", tuple(shape)) for key, (shape, _) in draft.additional.items()})
    return Manifest(draft.title, tensors, frozenset(optional), draft.under, draft.renamed)


def comment_of(draft: Draft, commit: str) -> Iterable[str]:
    kind = type(draft.network)
    library = sys.modules[kind.__module__.partition(".")[0]]
    version = getattr(library, "__version__", None)
    made_from = f"{library.__name__} {version}" if version else f"upstream at {commit}"
    yield f"Not read from the published file, but made from the code that loads it: {kind.__name__} of {made_from}."
    if draft.renamed:
        yield "Its loader renames these parts of older names."
    for end, reason in draft.optional.items():
        yield f"Optional: {end}, {reason}."
    for key, (_, reason) in draft.additional.items():
        yield f"Optional: {key}, {reason}."


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("release", choices=sorted(RELEASES))
    arguments.add_argument("--upstream", type=Path, required=True, help="checkout of the upstream repository")
    arguments.add_argument("--out", type=Path, required=True, help="folder of the manifests")
    given = arguments.parse_args()
    upstream = use_upstream(given.upstream)
    git = ["git", "-C", str(upstream), "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    given.out.mkdir(parents=True, exist_ok=True)
    with torch.device("meta"):
        for draft in RELEASES[given.release](upstream):
            manifest_of(draft).write(given.out / f"{draft.name}.txt", comment_of(draft, commit))
            print(f"{draft.name}: {len(draft.network.state_dict())} tensors")


if __name__ == "__main__":
    main()
