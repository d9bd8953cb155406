"""
Writes the files that MuseTalk publishes, under their names and with small networks, for tests of the way from a hub to a
pack: `files/`, the lists of what they hold in `manifests/`, and in `upstream/` the two libraries that the exporter
imports, with these networks in place of theirs.

    python scripts/export/reduced_release.py --out FOLDER
"""

import argparse
import json
import shutil
from pathlib import Path

import torch
from golden.networks import small
from pack_export.checkpoint_check import tensors_of
from pack_export.checkpoint_manifest import PUBLISHED, Manifest, read_manifests

HERE = Path(__file__).resolve().parent
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


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out", type=Path, required=True)
    out = arguments.parse_args().out
    networks = small("musetalk")
    files = {
        "musetalkV15/unet.pth": ("musetalk-unet", networks.unet),
        "sd-vae/diffusion_pytorch_model.bin": ("sd-vae-ft-mse", networks.vae),
        "whisper/pytorch_model.bin": ("whisper-tiny-transformers", networks.whisper),
    }
    shutil.copytree(PUBLISHED, out / "manifests")
    known = read_manifests()
    for name, (manifest, network) in files.items():
        path = out / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(network.state_dict(), path)
        title = known[manifest].title
        Manifest(title, dict(tensors_of(network))).write(out / "manifests" / f"{manifest}.txt", ["At reduced size."])
    config = {"in_channels": 8, "cross_attention_dim": networks.width}
    (out / "files" / "musetalkV15" / "musetalk.json").write_text(json.dumps(config))
    for name in ("sd-vae", "whisper"):
        (out / "files" / name / "config.json").write_text("{}")

    for name, text in {"diffusers": DIFFUSERS, "transformers": TRANSFORMERS}.items():
        package = out / "upstream" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(text.lstrip())
    shutil.copy(HERE / "golden" / "small_networks.py", out / "upstream" / "diffusers")


if __name__ == "__main__":
    main()
