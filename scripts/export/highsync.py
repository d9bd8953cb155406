"""
Makes a pack for the highsync engine from HighSync's weights (github.com/saeed5959/high_sync).

    python scripts/export/highsync.py --upstream high_sync --weights high_sync/pretrained_weights --out packs/highsync
"""

from pack_export.checkpoint_check import pretrained_file, refuse_wrong_checkpoints
from pack_export.checkpoint_loading import load_checkpoint, safe_loading
from pack_export.checkpoint_manifest import read_manifests
from pack_export.command_line import label_of, options_of, parser, use_upstream
from pack_export.highsync_pack import REFERENCES, highsync_params, highsync_roles, reference_for
from pack_export.networks.autoencoder import latent_params, plain_attention
from pack_export.networks.motion_masks import mask_rectangle, read_mask, use_plain_masks
from pack_export.networks.mutual_attention import upstream_blocks, with_banks
from pack_export.networks.whisper import OpenaiStates, audio_params, whisper_role
from pack_export.write_pack import write_pack

RESOLUTION = 512
SOURCE = "HighSync (github.com/saeed5959/high_sync), sd-image-variations, sd-vae-ft-mse, whisper-tiny"


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--config", default="configs/inference/default.yaml", help="below upstream")
    arguments.add_argument("--stretch", type=int, default=48, help="frames by which denoising advances at a time")
    arguments.add_argument("--reference", choices=REFERENCES, help="what the denoising graph takes; default: banks on a CPU")
    arguments.add_argument(
        "--guidance-interval",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="noise levels between which guidance is applied (arXiv 2404.07724); default: at all, as upstream",
    )
    given = arguments.parse_args()
    options = options_of(given)
    base, vae_folder = given.weights / "sd-image-variations-diffusers", given.weights / "sd-vae-ft-mse"
    reference_file, denoising_file = (given.weights / f"{name}_unet-500.pth" for name in ("reference", "denoising"))
    whisper_file = given.weights / "audio_processor" / "whisper_tiny.pt"
    known = read_manifests(given.manifests)
    refuse_wrong_checkpoints(
        {
            pretrained_file(base / "unet"): known["sd-image-variations-unet"],
            reference_file: known["highsync-reference-unet"],
            denoising_file: known["highsync-denoising-unet"],
            pretrained_file(vae_folder): known["sd-vae-ft-mse"],
            whisper_file: known["whisper-tiny"],
        }
    )
    upstream = use_upstream(given.upstream)
    from diffusers import AutoencoderKL
    from omegaconf import OmegaConf
    from src.models.motion_module import VanillaTemporalModule
    from src.models.unet_2d_condition import UNet2DConditionModel
    from src.models.unet_3d_echo import EchoUNet3DConditionModel
    from src.models.whisper.whisper import load_model

    config = OmegaConf.load(upstream / given.config)
    use_plain_masks(VanillaTemporalModule, upstream / "masks")
    with safe_loading():
        reference_unet = UNet2DConditionModel.from_pretrained(base, subfolder="unet")
        reference_unet.load_state_dict(load_checkpoint(reference_file))
        denoising_unet = EchoUNet3DConditionModel.from_pretrained_2d(
            base, "", subfolder="unet", unet_additional_kwargs=OmegaConf.to_container(config.unet_additional_kwargs)
        )
        denoising_unet.load_state_dict(load_checkpoint(denoising_file))
        vae = AutoencoderKL.from_pretrained(vae_folder)
        whisper = load_model(str(whisper_file), "cpu")
    states, width = whisper.dims.n_audio_layer + 1, whisper.dims.n_audio_state

    params = highsync_params(
        RESOLUTION,
        latent_params(vae, RESOLUTION),
        audio_params("openai", states, width),
        mask_rectangle(read_mask(upstream / "masks" / "mask_64.png")),
        given.stretch,
        given.guidance_interval,
    )
    roles = highsync_roles(
        whisper_role(OpenaiStates(whisper.encoder), states, width),
        vae if options.fuse else plain_attention(vae),
        # torch's own attention: as single operations, tracing at 512 pixels would take 13 GB for one tensor.
        *with_banks(reference_unet, denoising_unet, upstream_blocks()),
        params,
        given.reference or reference_for(given.provider),
    )
    label = label_of(given, "highsync", "highsync", "LicenseRef-CreativeML-OpenRAIL-M AND MIT", SOURCE)
    write_pack(given.out, label, roles, params, options)


if __name__ == "__main__":
    main()
