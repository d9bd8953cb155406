"""
Golden numbers for the highsync engine: a pack of random networks, and the pictures that HighSync's own pipeline makes
with them (audio windows, reference banks, shifting windows, re-insertion, scheduler, guidance, decoding).

    python scripts/export/golden_highsync.py --upstream high_sync --out DIR [--networks reduced]
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from golden import networks as golden_networks
from golden import packs
from golden.arguments import arguments_of, finish, made_by
from golden.banked_step import upstream_step, write_step
from golden.golden_file import write_golden
from golden.inputs import SAMPLE_RATE, normalized, sound
from golden.noise import noise
from golden.upstream import run_on_cpu
from pack_export.command_line import use_upstream
from pack_export.networks.motion_masks import read_mask, use_plain_masks
from pack_export.networks.mutual_attention import upstream_blocks

#: Golden files with their numbers of frames: several windows, and less than one.
CASES = {"golden.json": 20, "golden-short.json": 7}
FPS = 25
PADDED_WIDTH = 128


def upstream_audio(networks, waveform: np.ndarray) -> torch.Tensor:
    """[frames, tokens, width] as upstream's Audio2Feature cuts them."""
    from src.models.whisper.audio2feature import Audio2Feature
    from src.models.whisper.whisper.transcribe import transcribe

    model = SimpleNamespace(device=torch.device("cpu"), encoder=networks.whisper)
    model.transcribe = lambda *_, **__: transcribe(model, waveform)
    audio = Audio2Feature.__new__(Audio2Feature)
    audio.model = model
    features = audio.audio2feat("")
    # Upstream supports only a width of 384: rows are padded to what its reshaping divides, and cut off again.
    padded = np.pad(np.asarray(features), [(0, 0), (0, 0), (0, PADDED_WIDTH - networks.width)])
    windows = np.array(audio.feature2chunks(feature_array=padded, fps=25))
    windows = windows.reshape(len(windows), -1, PADDED_WIDTH)[..., : networks.width]
    return torch.from_numpy(np.ascontiguousarray(windows))


def upstream_pictures(networks, windows: torch.Tensor, params: dict, mask: torch.Tensor, frames: int) -> np.ndarray:
    """
    [frames, 3, side, side] in [-1, 1] as upstream's pipeline decodes them, unchanged except that it uses the service's
    noise.
    """
    # Upstream's inference pads a segment to a window with its last picture and that picture's audio.
    seen = [min(frame, frames - 1) for frame in range(max(frames, params["window"]))]
    from diffusers import DDIMScheduler
    from src.pipelines.face_animate import FaceAnimatePipeline

    schedule = params["schedule"]
    scheduler = DDIMScheduler(
        beta_start=schedule["betaStart"],
        beta_end=schedule["betaEnd"],
        beta_schedule=schedule["betaSchedule"],
        clip_sample=False,
        steps_offset=schedule["stepsOffset"],
        prediction_type=schedule["prediction"],
        rescale_betas_zero_snr=schedule["zeroTerminalSnr"],
        timestep_spacing=schedule["spacing"],
    )
    pipeline = FaceAnimatePipeline(networks.vae, networks.reference, networks.denoiser, scheduler)
    shape = params["latent"]
    size = [shape["channels"], shape["height"], shape["width"]]
    start = [noise(int(np.prod(size)), params["seed"], frame).reshape(size) for frame in range(len(seen))]
    pipeline.prepare_latents = lambda *_: torch.from_numpy(np.stack(start, axis=1))[None]
    decoded = []
    decode = networks.vae.decode
    networks.vae.decode = lambda latent: decoded.append(decode(latent)) or decoded[-1]
    pipeline(
        gt_encode=torch.from_numpy(np.stack([normalized(frame, networks.side) for frame in seen])),
        audio_tensor=windows[None, seen],
        mask_main=mask.expand(1, shape["channels"], 1, -1, -1),
        width=networks.side,
        height=networks.side,
        video_length=len(seen),
        num_inference_steps=schedule["steps"],
        guidance_scale=params["guidance"],
    )
    networks.vae.decode = decode
    return torch.cat([answer.sample for answer in decoded]).numpy()[:frames]


def use_single_precision(control: type) -> None:
    """On a GPU, upstream's control stores banks in half precision by default, and its caller does not change that."""
    for method in (control.register_reference_hooks, control.update):
        here = {torch.float16: torch.float32, torch.device("cuda"): torch.device("cpu")}
        method.__defaults__ = tuple(here.get(value, value) if _hashable(value) else value for value in method.__defaults__)


def _hashable(value) -> bool:
    return isinstance(value, (torch.dtype, torch.device))


def prepare(given, upstream: Path) -> tuple:
    """The function that makes the networks, the classes of their blocks, and the mask of a latent."""
    from src.models import mutual_self_attention
    from src.models.motion_module import VanillaTemporalModule

    use_single_precision(mutual_self_attention.ReferenceAttentionControl)
    if given.networks == "small":
        names = ("BasicTransformerBlock", "TemporalBasicTransformerBlock")
        for name, kind in zip(names, packs.SMALL_BLOCKS):
            setattr(mutual_self_attention, name, kind)
        return lambda: golden_networks.small("highsync"), packs.SMALL_BLOCKS, packs.small_latent_mask()
    use_plain_masks(VanillaTemporalModule, upstream / "masks")
    return golden_networks.reduced_highsync, upstream_blocks(), read_mask(upstream / "masks" / "mask_16.png")


@torch.no_grad()
def main() -> None:
    given = arguments_of(__doc__)
    upstream = use_upstream(given.upstream)
    run_on_cpu()
    from src.models.mutual_self_attention import ReferenceAttentionControl

    load, kinds, mask = prepare(given, upstream)
    networks = load()
    params = packs.highsync_settings(networks, mask, packs.STEPS[given.networks])
    given.out.mkdir(parents=True, exist_ok=True)
    for file, frames in CASES.items():
        windows = upstream_audio(networks, sound(frames / FPS))
        pictures = upstream_pictures(networks, windows, params, mask, frames)
        inputs = {"seconds": frames / FPS, "sampleRate": SAMPLE_RATE}
        write_golden(given.out / file, made_by(given), inputs, pictures)
    if given.networks == "small":
        # For the Python tests, which run without upstream's classes.
        write_step(given.out / "step.json", made_by(given), upstream_step(load(), ReferenceAttentionControl))
    # Networks that upstream's control has not modified, as the exporter gets them.
    for folder, referenced_by in packs.HIGHSYNC_PACKS.items():
        label = packs.label("highsync", given.networks)
        packs.write_highsync(given.out / folder, label, load(), kinds, params, referenced_by)
    finish(given)


if __name__ == "__main__":
    sys.exit(main())
