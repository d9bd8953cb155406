"""
Networks of a few kilobytes with random weights in place of those in upstream's pipelines: same tensors, every input
matters, frames of a window influence one another. They belong to this project, so it may include packs of them.
"""

import math
from types import SimpleNamespace
from typing import Optional

import numpy as np
import torch
from torch import nn


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    return scores.softmax(-1) @ value


def time_code(timestep: torch.Tensor, width: int) -> torch.Tensor:
    angles = timestep.float()[:, None] * torch.exp(-math.log(1000) * torch.arange(width // 2) / (width // 2))
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class SmallAttention(nn.Module):
    """One head, with the call signature of diffusers' attention."""

    def __init__(self, width: int, seen_width: int):
        super().__init__()
        self.query, self.seen, self.leave = nn.Linear(width, width), nn.Linear(seen_width, 2 * width), nn.Linear(width, width)

    def forward(self, hidden_states, encoder_hidden_states: Optional[torch.Tensor] = None, attention_mask=None):
        assert attention_mask is None
        seen = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        return self.leave(attend(self.query(hidden_states), *self.seen(seen).chunk(2, dim=-1)))


class SmallWhisper(nn.Module):
    """An audio encoder with the interfaces of transformers' and OpenAI's."""

    def __init__(self, width: int = 8, blocks: int = 2):
        super().__init__()
        self.conv1 = nn.Conv1d(80, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.register_buffer("positional_embedding", time_code(torch.arange(1500) / 10, width))
        layers = [nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(blocks)]
        self.blocks = nn.ModuleList(layers)
        self.ln_post = nn.LayerNorm(width)
        self.states = blocks + 1
        self.width = width

    def forward(self, mel, output_hidden_states=False, include_embeddings=False):
        gelu = nn.functional.gelu
        states = [gelu(self.conv2(gelu(self.conv1(mel)))).transpose(1, 2) + self.positional_embedding]
        for block in self.blocks:
            states.append(block(states[-1]))
        last = self.ln_post(states[-1])
        if include_embeddings:
            return last, np.stack([state.numpy() for state in states], axis=1)
        return SimpleNamespace(hidden_states=(*states[:-1], last))


class SmallVae(nn.Module):
    """Eight pixels are one cell of the latent; moments like those of diffusers' AutoencoderKL."""

    def __init__(self, channels: int = 4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 16, 8, stride=8), nn.SiLU(), nn.Conv2d(16, 2 * channels, 3, padding=1))
        self.decoder = nn.Sequential(nn.Conv2d(channels, 16, 3, padding=1), nn.SiLU(), nn.ConvTranspose2d(16, 3, 8, stride=8))
        self.config = SimpleNamespace(
            block_out_channels=(1, 1, 1, 1), latent_channels=channels, scaling_factor=0.18215, shift_factor=0
        )
        self.dtype, self.device = torch.float32, torch.device("cpu")

    def encode(self, image):
        moments = self.encoder(image)
        mean, _ = moments.chunk(2, dim=1)
        mode = lambda *_, **__: mean
        return SimpleNamespace(latent_dist=SimpleNamespace(parameters=moments, mean=mean, mode=mode, sample=mode))

    def decode(self, latent):
        return SimpleNamespace(sample=self.decoder(latent))


class _Frames(nn.Module):
    """Frames [n, in, h, w] with a timestep and audio [n, tokens, width]."""

    def __init__(self, inputs: int, outputs: int, audio_width: int, width: int = 16):
        super().__init__()
        self.enter, self.leave = nn.Conv2d(inputs, width, 3, padding=1), nn.Conv2d(width, outputs, 3, padding=1)
        self.time = nn.Linear(width, width)
        self.norm, self.norm_audio = nn.LayerNorm(width), nn.LayerNorm(width)
        self.own, self.audio = SmallAttention(width, width), SmallAttention(width, audio_width)
        self.motion = nn.Linear(width, width)
        self.width = width

    def forward(self, frames, timestep, audio, window: Optional[int] = None):
        height, width = frames.shape[2:]
        x = self.enter(frames).flatten(2).transpose(1, 2)
        x = x + self.time(time_code(timestep, self.width))[:, None]
        x = x + self.own(self.norm(x))
        x = x + self.audio(self.norm_audio(x), audio)
        if window is not None:
            mean = x.reshape(-1, window, *x.shape[1:]).mean(1, keepdim=True).expand(-1, window, -1, -1)
            x = x + self.motion(mean.reshape(x.shape)).tanh()
        return self.leave(x.transpose(1, 2).reshape(-1, self.width, height, width))


class SmallUnet(nn.Module):
    """Replaces MuseTalk's: frames are independent."""

    def __init__(self, channels: int, audio_width: int):
        super().__init__()
        self.frames = _Frames(2 * channels, channels, audio_width)

    def forward(self, latent, timestep, encoder_hidden_states):
        return SimpleNamespace(sample=self.frames(latent, timestep, encoder_hidden_states))


class SmallUnet3D(nn.Module):
    """Replaces LatentSync's: [batch, channels, frames, h, w], audio with frames folded into the batch."""

    # Attributes that diffusers' pipelines read from a model.
    device, dtype, add_audio_layer = torch.device("cpu"), torch.float32, True

    def __init__(self, channels: int, audio_width: int):
        super().__init__()
        self.frames = _Frames(3 * channels + 1, channels, audio_width)
        self.config = SimpleNamespace(sample_size=64)

    def forward(self, latent, timestep, encoder_hidden_states):
        batch, channels, window, height, width = latent.shape
        frames = latent.transpose(1, 2).reshape(-1, channels, height, width)
        answer = self.frames(frames, timestep.reshape(1), encoder_hidden_states, window)
        return SimpleNamespace(sample=answer.reshape(batch, window, -1, height, width).transpose(1, 2))
