"""One step of HighSync's denoising over one window, with its two halves and the banks between the networks."""

import json
from pathlib import Path
from types import SimpleNamespace

import torch

from .noise import noise

WINDOW, TOKENS, TIMESTEP = 12, 30, 949
#: Number of leading elements of each half that are recorded as they are.
FIRST = 24


def step_inputs(networks: SimpleNamespace) -> tuple:
    """Latents of the frames without noise [12, c, h, w] and with it [1, c, 12, h, w]; their audio [1, 12, n, w]."""
    channels, cells = networks.vae.config.latent_channels, networks.side // 8
    shapes = [(WINDOW, channels, cells, cells), (1, channels, WINDOW, cells, cells), (1, WINDOW, TOKENS, networks.width)]
    sizes = [torch.Size(shape).numel() for shape in shapes]
    return tuple(torch.from_numpy(noise(size, 1, i)).reshape(shape) for i, (size, shape) in enumerate(zip(sizes, shapes)))


def exported_step(networks: SimpleNamespace, reference: torch.nn.Module, denoiser: torch.nn.Module) -> tuple:
    """The predictions without and with audio and banks, from the networks as exported."""
    was, latent, audio = step_inputs(networks)
    timestep = torch.tensor([TIMESTEP])
    return denoiser(latent, timestep, torch.zeros_like(audio)), denoiser(latent, timestep, audio, *reference(was))


def upstream_step(networks: SimpleNamespace, control: type) -> tuple:
    """The same from upstream's control, called as its pipeline does."""
    was, latent, audio = step_inputs(networks)
    options = {"do_classifier_free_guidance": True, "batch_size": 1, "fusion_blocks": "full"}
    writer = control(networks.reference, mode="write", **options)
    reader = control(networks.denoiser, mode="read", **options)
    timestep = torch.tensor(TIMESTEP)
    networks.reference(was, torch.zeros_like(timestep), encoder_hidden_states=None, return_dict=False)
    reader.update(writer, do_classifier_free_guidance=True)
    heard = torch.cat([torch.zeros_like(audio), audio])
    twice = torch.cat([latent, latent])
    answer = networks.denoiser(twice, timestep, encoder_hidden_states=None, audio_cond_fea=heard, return_dict=False)[0]
    return answer.chunk(2)


def write_step(path: Path, made_by: dict, predictions: tuple) -> None:
    halves = dict(zip(("unconditional", "conditional"), map(numbers_of, predictions)))
    path.write_text(json.dumps({"madeBy": made_by, **halves}, indent=1) + "\n")


def numbers_of(prediction: torch.Tensor) -> list:
    """Mean, root mean square, and elements sampled from the whole prediction."""
    flat = prediction.double().ravel()
    chosen = flat[:: max(1, len(flat) // FIRST)][:FIRST]
    return [float(f"{value:.7g}") for value in [flat.mean(), flat.square().mean().sqrt(), *chosen]]
