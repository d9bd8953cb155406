"""
Makes a pack for the latentsync engine of LatentSync's weights (github.com/bytedance/LatentSync), 1.5 or 1.6.

    python scripts/export/latentsync.py --upstream LatentSync --weights LatentSync/checkpoints \
        --vae sd-vae-ft-mse --config configs/unet/stage2_512.yaml --out packs/latentsync-1.6
"""

import argparse
from pathlib import Path
from typing import List

from pack_export.checkpoint_check import pretrained_file, refuse_other_network, refuse_wrong_checkpoints
from pack_export.checkpoint_loading import safe_loading
from pack_export.checkpoint_manifest import read_manifests
from pack_export.command_line import label_of, options_of, parser, use_upstream
from pack_export.distilled_unet import load_distilled
from pack_export.export_role import sha256_of
from pack_export.latentsync_pack import (
    CONDITIONS,
    distilled_params,
    latentsync_params,
    latentsync_roles,
    pictures_for,
)
from pack_export.mask_spans import mask_params
from pack_export.networks.autoencoder import latent_params, plain_attention
from pack_export.networks.deep_cache import INTERVAL
from pack_export.networks.whisper import OpenaiStates, audio_params, whisper_role
from pack_export.write_pack import write_pack

SOURCE = "LatentSync at {resolution} pixels (github.com/bytedance/LatentSync), sd-vae-ft-mse, whisper"


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--vae", type=Path, required=True, help="folder of stabilityai/sd-vae-ft-mse")
    # No default: the weights of either version load into either configuration, but draw badly at the other's size.
    arguments.add_argument(
        "--config",
        required=True,
        help="below upstream: configs/unet/stage2.yaml for weights of 1.5, configs/unet/stage2_512.yaml for 1.6",
    )
    arguments.add_argument(
        "--deep-cache",
        type=interval,
        nargs="?",
        const=INTERVAL,
        metavar="INTERVAL",
        default=INTERVAL,
        help=f"only one of so many steps computes the deep features; default: {INTERVAL}, as upstream's scripts",
    )
    arguments.add_argument(
        "--no-deep-cache", dest="deep_cache", action="store_const", const=None, help="every step computes the whole network"
    )
    arguments.add_argument(
        "--distilled",
        type=Path,
        metavar="FILE",
        help="a UNet that was distilled to a few steps, in place of latentsync_unet.pt; without DeepCache",
    )
    arguments.add_argument("--timesteps", type=timesteps, metavar="T,T,...", help="to which it was distilled, falling")
    arguments.add_argument("--guidance", type=float, help="with which it is to be run; 1 if that was distilled as well")
    arguments.add_argument(
        "--conditions",
        choices=CONDITIONS,
        default="apart",
        help="whether a call of the UNet computes both conditions of guidance, without DeepCache; default: apart",
    )
    given = arguments.parse_args()
    if len({value is None for value in (given.distilled, given.timesteps, given.guidance)}) > 1:
        arguments.error("--distilled, --timesteps and --guidance go together: a distilled network is right with its own alone")
    if given.guidance == 1 and given.conditions == "together":
        arguments.error("there is one condition without guidance")
    deep_cache = None if given.distilled else given.deep_cache
    if deep_cache is not None and given.conditions == "together":
        arguments.error("--conditions together needs --no-deep-cache: an interval's conditions come one after the other")
    options = options_of(given)
    unet_file, whisper_file = given.weights / "latentsync_unet.pt", given.weights / "whisper" / "tiny.pt"
    known = read_manifests(given.manifests)
    refuse_wrong_checkpoints(
        {
            **({} if given.distilled else {unet_file: known["latentsync-unet"]}),
            whisper_file: known["whisper-tiny"],
            pretrained_file(given.vae): known["sd-vae-ft-mse"],
        }
    )
    upstream = use_upstream(given.upstream)
    from diffusers import AutoencoderKL
    from latentsync.models.unet import UNet3DConditionModel
    from latentsync.whisper.whisper import load_model
    from omegaconf import OmegaConf

    config = OmegaConf.load(upstream / given.config)
    resolution = config.data.resolution
    with safe_loading():
        model = OmegaConf.to_container(config.model)
        unet, _ = UNet3DConditionModel.from_pretrained(model, "" if given.distilled else str(unet_file))
        refuse_other_network(unet, known["latentsync-unet"])
        if given.distilled:
            unet.load_state_dict(load_distilled(given.distilled, known["latentsync-unet"]), strict=False)
        whisper = load_model(str(whisper_file), "cpu")
        vae = AutoencoderKL.from_pretrained(given.vae)
    states, width = whisper.dims.n_audio_layer + 1, whisper.dims.n_audio_state
    vae.register_to_config(scaling_factor=0.18215)

    params = latentsync_params(
        resolution,
        latent_params(vae, resolution),
        audio_params("openai", states, width),
        mask_params(upstream / config.data.mask_image_path),
        config.data.num_frames,
        pictures_for(options.provider, resolution),
    )
    if given.distilled:
        params = distilled_params(params, given.timesteps, given.guidance)
    roles = latentsync_roles(
        whisper_role(OpenaiStates(whisper.encoder), states, width),
        vae if options.fuse else plain_attention(vae),
        unet,
        params,
        deep_cache,
        given.conditions,
    )
    source, name = SOURCE.format(resolution=resolution), f"latentsync-{resolution}"
    if given.distilled:
        steps, student = len(given.timesteps), f"{given.distilled.name}, SHA-256 {sha256_of(given.distilled)}"
        source, name = f"{source}; UNet distilled to {steps} steps: {student}", f"{name}-{steps}-steps"
    label = label_of(given, "latentsync", name, "LicenseRef-OpenRAIL-PP AND MIT", source)
    write_pack(given.out, label, roles, params, options)


def interval(text: str) -> int:
    if int(text) < 2:
        raise argparse.ArgumentTypeError("with less than 2, every step is computed whole")
    return int(text)


def timesteps(text: str) -> List[int]:
    times = [int(time) for time in text.split(",")]
    if any(later >= earlier for earlier, later in zip(times, times[1:])):
        raise argparse.ArgumentTypeError("timesteps fall")
    return times


if __name__ == "__main__":
    main()
