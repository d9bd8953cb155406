"""
Golden numbers for the latentsync engine: a pack of random networks, and the pictures that LatentSync's own pipeline
makes with them (audio windows, masks, scheduler, guidance, decoding) of the windows that the service shows it: the last
one is full, and reaches back over frames that the one before it has drawn.

    python scripts/export/golden_latentsync.py --upstream LatentSync --out DIR [--networks reduced [--deep-cache]]

With --deep-cache, upstream's inference wraps its pipeline in DeepCache's own helper (github.com/horseee/DeepCache).
"""

import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Optional

import numpy as np
import torch
from golden import networks as golden_networks
from golden import packs
from golden.arguments import finish, made_by, parser_of
from golden.golden_file import write_golden
from golden.inputs import SAMPLE_RATE, picture, sound, write_mask
from golden.noise import noise
from golden.upstream import mode_instead_of_samples
from pack_export.command_line import use_upstream
from pack_export.networks.deep_cache import INTERVAL

FRAMES = 20
SECONDS = FRAMES / 25


def upstream_audio(networks, waveform: np.ndarray, frames: range):
    """Upstream's Audio2Feature, which processes `waveform` whatever file it is given, and hears these frames of it."""
    from latentsync.whisper.audio2feature import Audio2Feature
    from latentsync.whisper.whisper.transcribe import transcribe

    model = SimpleNamespace(device=torch.device("cpu"), encoder=networks.whisper)
    model.transcribe = lambda _: transcribe(model, waveform)
    audio = Audio2Feature.__new__(Audio2Feature)
    audio.model, audio.audio_embeds_cache_dir = model, None
    audio.embedding_dim, audio.audio_feat_length = networks.width, [2, 2]
    chunks = audio.feature2chunks
    audio.feature2chunks = lambda **options: chunks(**options)[frames.start : frames.stop]
    return audio


def upstream_pictures(networks, frames: range, params: dict, upstream: Path, mask: Path, interval: Optional[int]) -> np.ndarray:
    """
    [frames, 3, side, side] in [-1, 1] as upstream's pipeline decodes them, unchanged except for its files: faces are
    already aligned, the noise is the service's, and the pictures are returned before they are pasted.
    """
    from diffusers import DDIMScheduler
    from latentsync.pipelines import lipsync_pipeline as home

    side = networks.side
    scheduler = DDIMScheduler.from_config(json.loads((upstream / "configs" / "scheduler_config.json").read_text()))
    audio = upstream_audio(networks, sound(SECONDS), frames)
    pipeline = home.LipsyncPipeline(networks.vae, audio, networks.unet, scheduler)
    faces = torch.from_numpy(np.stack([picture(frame, side).transpose(2, 0, 1) for frame in frames]))
    processor = home.ImageProcessor
    home.ImageProcessor = lambda resolution, device, mask_image: processor(resolution, "cpu", mask_image)
    for name in ("check_ffmpeg_installed", "read_video", "write_video"):
        setattr(home, name, lambda *_, **__: None)
    home.read_audio = lambda _: torch.zeros(1)
    home.subprocess = SimpleNamespace(run=lambda *_, **__: None)
    home.sf = SimpleNamespace(write=lambda *_, **__: None)
    pipeline.loop_video = lambda *_: (None, faces, None, None)
    pipeline.restore_video = lambda *_: np.zeros([len(frames)])

    shape = params["latent"]
    start = noise(shape["channels"] * shape["height"] * shape["width"], params["seed"])
    start = torch.from_numpy(start).reshape(1, shape["channels"], 1, shape["height"], shape["width"])
    pipeline.prepare_latents = lambda *_: start.repeat(1, 1, len(frames), 1, 1)
    decoded = []
    decode = pipeline.decode_latents
    pipeline.decode_latents = lambda latents: decoded.append(decode(latents)) or decoded[-1]
    helper = None if interval is None else deep_cache(pipeline, interval)
    pipeline(
        video_path="",
        audio_path="",
        video_out_path="",
        num_frames=params["window"],
        height=side,
        width=side,
        num_inference_steps=params["schedule"]["steps"],
        guidance_scale=params["guidance"],
        weight_dtype=torch.float32,
        mask_image_path=str(mask),
        temp_dir=str(mask.parent / "temp"),
    )
    if helper:
        helper.disable()
    return torch.cat(decoded).numpy()


def deep_cache(pipeline, interval: int):
    """DeepCache's helper, enabled as upstream's scripts/inference.py does."""
    from DeepCache import DeepCacheSDHelper

    helper = DeepCacheSDHelper(pipe=pipeline)
    helper.set_params(cache_interval=interval, cache_branch_id=0)
    helper.enable()
    return helper


@torch.no_grad()
def main() -> None:
    arguments = parser_of(__doc__)
    arguments.add_argument("--deep-cache", action="store_true", help="for the reduced networks, which have blocks to cache")
    given = arguments.parse_args()
    if given.deep_cache and given.networks == "small":
        arguments.error("--deep-cache needs --networks reduced")
    upstream = use_upstream(given.upstream)
    small = given.networks == "small"
    networks = golden_networks.small("latentsync") if small else golden_networks.reduced_latentsync()
    mode_instead_of_samples()
    # A cache shows only over many steps.
    steps, interval = (packs.STEPS["small"], INTERVAL) if given.deep_cache else (packs.STEPS[given.networks], None)
    params = packs.latentsync_settings(networks, steps)
    with tempfile.TemporaryDirectory() as folder:
        mask = Path(folder) / "mask.png"
        write_mask(mask, networks.side)
        windows = [range(first, first + params["window"]) for first in (0, FRAMES - params["window"])]
        first, last = (upstream_pictures(networks, frames, params, upstream, mask, interval) for frames in windows)
    pictures = np.concatenate([first, last[len(first) - FRAMES :]])
    for folder, conditions in packs.LATENTSYNC_PACKS.items():
        # One of the small networks is enough to compare with.
        if small or conditions == "apart":
            label = packs.label("latentsync", given.networks)
            packs.write_latentsync(given.out / folder, label, networks, params, conditions, interval)
    inputs = {"seconds": SECONDS, "sampleRate": SAMPLE_RATE}
    write_golden(given.out / "golden.json", made_by(given), inputs, pictures)
    finish(given)


if __name__ == "__main__":
    sys.exit(main())
