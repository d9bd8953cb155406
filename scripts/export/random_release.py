"""
Writes the files that an upstream publishes, under their names and with random weights: networks of the published size,
for the exporters (full_size.py runs them), or with --small those of MuseTalk with small networks, for tests of the way
from a hub to a pack.

    python scripts/export/random_release.py latentsync --out FOLDER

`files/` is what an exporter takes as --weights. With --small, `manifests/` lists what they hold, and `upstream/` has the
two libraries that the exporter imports, with these networks in place of theirs.
"""

import argparse
import json
import shutil
import zlib
from pathlib import Path
from typing import Dict

import numpy as np
import torch
from checkpoint_manifests import SD_UNET, SD_VAE, VOCABULARY, WHISPER_TINY
from golden.networks import small
from pack_export.checkpoint_check import tensors_of
from pack_export.checkpoint_file import Tensor
from pack_export.checkpoint_manifest import PUBLISHED, Manifest, read_manifests

HERE = Path(__file__).resolve().parent
WIDTH, HEADS, LAYERS = WHISPER_TINY
VAE_CONFIG = {"_class_name": "AutoencoderKL", **SD_VAE}
UNET_CONFIG = {"_class_name": "UNet2DConditionModel", **SD_UNET}
WHISPER_CONFIG = {
    "model_type": "whisper",
    "d_model": WIDTH,
    "vocab_size": VOCABULARY,
    **{f"{side}_{size}": value for side in ("encoder", "decoder") for size, value in
       {"layers": LAYERS, "attention_heads": HEADS, "ffn_dim": 4 * WIDTH}.items()},
}  # fmt: skip
#: As whisper/tiny.pt has them, in half precision.
WHISPER_DIMS = {
    "n_mels": 80, "n_vocab": VOCABULARY, "n_audio_ctx": 1500, "n_audio_state": WIDTH, "n_audio_head": HEADS,
    "n_audio_layer": LAYERS, "n_text_ctx": 448, "n_text_state": WIDTH, "n_text_head": HEADS, "n_text_layer": LAYERS,
}  # fmt: skip
WHISPER = ("whisper-tiny", {"dims": WHISPER_DIMS})

#: The files of each upstream that hold weights: the manifest, and what the file holds beside them.
CHECKPOINTS: Dict[str, Dict[str, tuple]] = {
    "musetalk": {
        "musetalkV15/unet.pth": ("musetalk-unet", {}),
        "sd-vae/diffusion_pytorch_model.bin": ("sd-vae-ft-mse", {}),
        "whisper/pytorch_model.bin": ("whisper-tiny-transformers", {}),
        "face-parse-bisent/resnet18-5c106cde.pth": ("face-parsing-resnet18", {}),
        "face-parse-bisent/79999_iter.pth": ("face-parsing", {}),
    },
    "latentsync": {
        "latentsync_unet.pt": ("latentsync-unet", {"global_step": 0}),
        "whisper/tiny.pt": WHISPER,
        "sd-vae-ft-mse/diffusion_pytorch_model.safetensors": ("sd-vae-ft-mse", {}),
    },
    "highsync": {
        "sd-image-variations-diffusers/unet/diffusion_pytorch_model.bin": ("sd-image-variations-unet", {}),
        "reference_unet-500.pth": ("highsync-reference-unet", {}),
        "denoising_unet-500.pth": ("highsync-denoising-unet", {}),
        "sd-vae-ft-mse/diffusion_pytorch_model.bin": ("sd-vae-ft-mse", {}),
        "audio_processor/whisper_tiny.pt": WHISPER,
    },
}
CONFIGS = {
    "musetalk": {
        "musetalkV15/musetalk.json": {**UNET_CONFIG, "in_channels": 8, "cross_attention_dim": WIDTH},
        "sd-vae/config.json": VAE_CONFIG,
        "whisper/config.json": WHISPER_CONFIG,
    },
    "latentsync": {"sd-vae-ft-mse/config.json": VAE_CONFIG},
    "highsync": {
        "sd-image-variations-diffusers/unet/config.json": {**UNET_CONFIG, "cross_attention_dim": 768},
        "sd-vae-ft-mse/config.json": VAE_CONFIG,
    },
}


def write_release(engine: str, folder: Path) -> None:
    """Writes the published files of an engine's upstream, with random weights of the published sizes."""
    known = read_manifests()
    for name, (manifest, beside) in CHECKPOINTS[engine].items():
        write_checkpoint(folder / name, drawn(known[manifest], half=(manifest, beside) == WHISPER), known[manifest], beside)
    for name, config in CONFIGS[engine].items():
        write_config(folder / name, config)


def drawn(manifest: Manifest, half: bool) -> Dict[str, torch.Tensor]:
    """
    The tensors of a manifest with random values, the same on every call. Two networks share no tensor, though they have
    the same names for them: torch's exporter and a pack store equal ones once.
    """
    seeds = {key: zlib.crc32(f"{manifest.title}: {key}".encode()) for key in manifest.tensors}
    return {key: random_tensor(key, tensor, seeds[key], half) for key, tensor in manifest.tensors.items()}


def random_tensor(name: str, tensor: Tensor, seed: int, half: bool) -> torch.Tensor:
    """
    As large as torch's layers begin with: through norms and residual sums, even a deep network stays within half
    precision.
    """
    if tensor.type != "float":
        return torch.zeros(tensor.shape, dtype=getattr(torch, tensor.type))
    values = np.random.default_rng(seed).random(tensor.shape, dtype=np.float32)
    if len(tensor.shape) > 1:
        values -= np.float32(0.5)
        values *= np.float32(2 * np.prod(tensor.shape[1:]) ** -0.5)
    else:
        # Factors of norms, and variances, are around 1; what is added, around 0.
        values = (values - 0.5) / 2 + name.endswith((".weight", ".running_var"))
    return torch.from_numpy(np.asarray(values, dtype=np.float16 if half else np.float32))


def write_checkpoint(path: Path, weights: Dict[str, torch.Tensor], manifest: Manifest, beside: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".safetensors":
        from safetensors.torch import save_file

        save_file(weights, path)
    else:
        torch.save({**beside, manifest.under: weights} if manifest.under else weights, path)


def write_config(path: Path, config: dict) -> None:
    path.write_text(json.dumps(config, indent=2) + "\n")


DIFFUSERS = '''
from pathlib import Path

import torch

from .small_networks import SmallUnet, SmallVae


class AutoencoderKL(SmallVae):
    @classmethod
    def from_pretrained(cls, folder):
        vae = cls()
        vae.load_state_dict(torch.load(Path(folder) / "diffusion_pytorch_model.bin"))
        return vae


class UNet2DConditionModel(SmallUnet):
    def __init__(self, in_channels, cross_attention_dim):
        super().__init__(in_channels // 2, cross_attention_dim)
'''
TRANSFORMERS = '''
from pathlib import Path
from types import SimpleNamespace

import torch
from diffusers.small_networks import SmallWhisper


class WhisperModel:
    @classmethod
    def from_pretrained(cls, folder, attn_implementation):
        model = cls()
        model.encoder = SmallWhisper()
        model.encoder.load_state_dict(torch.load(Path(folder) / "pytorch_model.bin"))
        model.encoder.config = SimpleNamespace(encoder_layers=model.encoder.states - 1, d_model=model.encoder.width)
        return model
'''


def write_small_release(out: Path) -> None:
    """MuseTalk's files, but the face parser's, with small networks; their manifests, and libraries that load them."""
    networks = small("musetalk")
    shutil.copytree(PUBLISHED, out / "manifests")
    known = read_manifests()
    for (name, (manifest, beside)), network in zip(
        CHECKPOINTS["musetalk"].items(), (networks.unet, networks.vae, networks.whisper)
    ):
        write_checkpoint(out / "files" / name, network.state_dict(), known[manifest], beside)
        reduced = Manifest(known[manifest].title, dict(tensors_of(network)))
        reduced.write(out / "manifests" / f"{manifest}.txt", ["At reduced size."])
    sizes = {"musetalkV15/musetalk.json": {"in_channels": 8, "cross_attention_dim": networks.width}}
    for name in CONFIGS["musetalk"]:
        write_config(out / "files" / name, sizes.get(name, {}))
    for name, text in {"diffusers": DIFFUSERS, "transformers": TRANSFORMERS}.items():
        package = out / "upstream" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(text.lstrip())
    shutil.copy(HERE / "golden" / "small_networks.py", out / "upstream" / "diffusers")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("engine", choices=sorted(CHECKPOINTS))
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--small", action="store_true", help="small networks; musetalk only")
    given = arguments.parse_args()
    if not given.small:
        write_release(given.engine, given.out / "files")
    elif given.engine == "musetalk":
        write_small_release(given.out)
    else:
        raise SystemExit("--small is only for musetalk")


if __name__ == "__main__":
    main()
