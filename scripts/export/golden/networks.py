"""
The networks that golden numbers are computed with: this project's small ones, or upstream's own classes at reduced
width. Both have random weights, the same on every call.
"""

from types import SimpleNamespace

import torch
from torch import nn

from .small_highsync import SmallDenoiser, SmallReference
from .small_networks import SmallUnet, SmallUnet3D, SmallVae, SmallWhisper
from .weights import draw_weights

CHANNELS = 4
#: Picture side: latents of 8 × 8, and of 4 × 4 after a UNet's first block.
SIDE = 64
#: HighSync's motion modules only have masks for features of 8, 16, 32 and 64 cells.
HIGHSYNC_SIDE = 128
#: Channels per level of the reduced UNets: the fewest levels that include every kind of block, and attention at two
#: widths. Motion modules always have 32 groups; every width is a multiple of them.
WIDTHS = (32, 64)
GROUPS = 8
HEADS = 2
AUDIO_WIDTH = 16
AUDIO_BLOCKS = 2


def small(engine: str) -> SimpleNamespace:
    """The small networks of an engine."""
    whisper, vae = SmallWhisper(), SmallVae(CHANNELS)
    networks = SimpleNamespace(side=SIDE, whisper=whisper, vae=vae, states=whisper.states, width=whisper.width)
    if engine == "musetalk":
        networks.unet = SmallUnet(CHANNELS, whisper.width)
    elif engine == "latentsync":
        networks.unet = SmallUnet3D(CHANNELS, whisper.width)
    else:
        networks.reference, networks.denoiser = SmallReference(CHANNELS), SmallDenoiser(CHANNELS, whisper.width)
    return _ready(networks, signs_only=False)


def reduced_musetalk() -> SimpleNamespace:
    """Instantiates diffusers' and transformers' classes as MuseTalk does."""
    from diffusers import UNet2DConditionModel
    from transformers.models.whisper.configuration_whisper import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = WhisperConfig(
        d_model=AUDIO_WIDTH, encoder_layers=AUDIO_BLOCKS, encoder_attention_heads=HEADS, encoder_ffn_dim=4 * AUDIO_WIDTH
    )
    # Nothing in it needs more than half of the others' widths.
    unet = UNet2DConditionModel(in_channels=2 * CHANNELS, **_unet("2D", SIDE, [width // 2 for width in WIDTHS]))
    return _ready(_with_vae(SIDE, whisper=WhisperEncoder(config), unet=unet))


def reduced_latentsync() -> SimpleNamespace:
    from latentsync.models.unet import UNet3DConditionModel
    from latentsync.whisper.whisper.model import AudioEncoder

    unet = UNet3DConditionModel(
        in_channels=3 * CHANNELS + 1,
        use_motion_module=True,
        motion_module_kwargs=_motion(max_length=24),
        motion_module_type="Vanilla",
        add_audio_layer=True,
        **_unet("3D", SIDE),
    )
    return _ready(_with_vae(SIDE, whisper=_openai_whisper(AudioEncoder), unet=unet))


def reduced_highsync() -> SimpleNamespace:
    from src.models.unet_2d_condition import UNet2DConditionModel
    from src.models.unet_3d_echo import EchoUNet3DConditionModel
    from src.models.whisper.whisper.model import AudioEncoder

    reference = UNet2DConditionModel(in_channels=CHANNELS, **_unet("2D", HIGHSYNC_SIDE))
    denoiser = EchoUNet3DConditionModel(
        in_channels=CHANNELS,
        use_inflated_groupnorm=True,
        unet_use_cross_frame_attention=False,
        unet_use_temporal_attention=False,
        use_motion_module=True,
        # Features of 16 and 8 cells.
        motion_module_resolutions=(1, 2),
        motion_module_mid_block=True,
        motion_module_type="Vanilla",
        motion_module_kwargs=_motion(max_length=32),
        **_unet("3D", HIGHSYNC_SIDE),
    )
    whisper = _openai_whisper(AudioEncoder)
    return _ready(_with_vae(HIGHSYNC_SIDE, whisper=whisper, reference=reference, denoiser=denoiser))


def _unet(dimensions: str, side: int, widths=WIDTHS) -> dict:
    return {
        "sample_size": side // 8,
        "out_channels": CHANNELS,
        "down_block_types": (f"CrossAttnDownBlock{dimensions}", f"DownBlock{dimensions}"),
        "up_block_types": (f"UpBlock{dimensions}", f"CrossAttnUpBlock{dimensions}"),
        "block_out_channels": tuple(widths),
        "layers_per_block": 1,
        "norm_num_groups": GROUPS,
        "attention_head_dim": HEADS,
        "cross_attention_dim": AUDIO_WIDTH,
    }


def _motion(max_length: int) -> dict:
    return {
        "num_attention_heads": HEADS,
        "num_transformer_block": 1,
        "attention_block_types": ("Temporal_Self", "Temporal_Self"),
        "temporal_position_encoding": True,
        "temporal_position_encoding_max_len": max_length,
        "temporal_attention_dim_div": 1,
    }


def _openai_whisper(encoder: type) -> nn.Module:
    return encoder(n_mels=80, n_ctx=1500, n_state=AUDIO_WIDTH, n_head=HEADS, n_layer=AUDIO_BLOCKS)


def _with_vae(side: int, **networks) -> SimpleNamespace:
    from diffusers import AutoencoderKL

    vae = AutoencoderKL(
        block_out_channels=(8, 8, 16, 16),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=1,
        norm_num_groups=4,
        latent_channels=CHANNELS,
        scaling_factor=0.18215,
    )
    # As upstream's inference sets it.
    vae.register_to_config(shift_factor=0)
    return SimpleNamespace(side=side, vae=vae, states=AUDIO_BLOCKS + 1, width=AUDIO_WIDTH, **networks)


def _ready(networks: SimpleNamespace, signs_only: bool = True) -> SimpleNamespace:
    modules = [network for network in vars(networks).values() if isinstance(network, nn.Module)]
    for module in modules:
        module.eval().requires_grad_(False)
    draw_weights(modules, signs_only)
    return networks
