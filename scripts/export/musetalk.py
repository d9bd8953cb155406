"""
Makes a pack for the musetalk engine from MuseTalk's weights (github.com/TMElyralab/MuseTalk), 1.5 or 1.0.

    python scripts/export/musetalk.py --upstream MuseTalk --weights MuseTalk/models --out packs/musetalk-1.5
"""

import json
from pathlib import Path
from typing import Optional

import torch
from pack_export.checkpoint_check import pretrained_file, refuse_wrong_checkpoints
from pack_export.checkpoint_loading import load_checkpoint, safe_loading
from pack_export.checkpoint_manifest import read_manifests
from pack_export.command_line import label_of, options_of, parser, use_upstream
from pack_export.musetalk_pack import musetalk_params, musetalk_roles
from pack_export.networks.autoencoder import latent_params, plain_attention
from pack_export.networks.whisper import HuggingFaceStates, audio_params, whisper_role
from pack_export.write_pack import write_pack

RESOLUTION = 256
#: The UNet's folder and files by version, relative to the weights.
FILES = {"1.5": ("musetalkV15", "unet.pth"), "1.0": ("musetalk", "pytorch_model.bin")}
PARSER = "face-parse-bisent"
SOURCE = "MuseTalk {version} (github.com/TMElyralab/MuseTalk), sd-vae-ft-mse, whisper-tiny"


def checkpoints(weights: Path, version: str, known: dict) -> dict:
    """Every file that is loaded, with its manifest."""
    files = {
        weights.joinpath(*FILES[version]): known["musetalk-unet"],
        pretrained_file(weights / "sd-vae"): known["sd-vae-ft-mse"],
        pretrained_file(weights / "whisper"): known["whisper-tiny-transformers"],
    }
    if (weights / PARSER).is_dir():
        files[weights / PARSER / "resnet18-5c106cde.pth"] = known["face-parsing-resnet18"]
        files[weights / PARSER / "79999_iter.pth"] = known["face-parsing"]
    return files


def load_face_parser(weights: Path) -> Optional[torch.nn.Module]:
    folder = weights / PARSER
    if not folder.is_dir():
        print("no face parser below the weights: the service's polygon of landmarks will stand in")
        return None
    from musetalk.utils.face_parsing.model import BiSeNet

    net = BiSeNet(str(folder / "resnet18-5c106cde.pth"))
    net.load_state_dict(load_checkpoint(folder / "79999_iter.pth"))
    return net


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--model", choices=sorted(FILES), default="1.5", help="version of the network")
    arguments.add_argument("--bbox-shift", type=int, default=0, help="1.0 only: see upstream's BBOX_SHIFT.md")
    given = arguments.parse_args()
    options = options_of(given)
    refuse_wrong_checkpoints(checkpoints(given.weights, given.model, read_manifests(given.manifests)))
    use_upstream(given.upstream)
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import WhisperModel

    folder, file = FILES[given.model]
    config = json.loads((given.weights / folder / "musetalk.json").read_text())
    with safe_loading():
        unet = UNet2DConditionModel(**config)
        unet.load_state_dict(load_checkpoint(given.weights / folder / file))
        vae = AutoencoderKL.from_pretrained(given.weights / "sd-vae")
        encoder = WhisperModel.from_pretrained(given.weights / "whisper", attn_implementation="eager").encoder
        face_parser = load_face_parser(given.weights)
    states, width = encoder.config.encoder_layers + 1, encoder.config.d_model

    audio = audio_params("hf", states, width)
    params = musetalk_params(given.model, latent_params(vae, RESOLUTION), audio, RESOLUTION, given.bbox_shift)
    roles = musetalk_roles(
        whisper_role(HuggingFaceStates(encoder), states, width),
        vae if options.fuse else plain_attention(vae),
        unet if options.fuse else plain_attention(unet),
        params,
        face_parser,
    )
    source = SOURCE.format(version=given.model)
    label = label_of(given, "musetalk", f"musetalk-{given.model}", "LicenseRef-CreativeML-OpenRAIL-M AND MIT", source)
    write_pack(given.out, label, roles, params, options)


if __name__ == "__main__":
    main()
