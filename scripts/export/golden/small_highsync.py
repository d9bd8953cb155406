"""
Small networks for HighSync's pipeline. Their blocks have the parts that upstream's control looks for, so that
upstream's own code passes banks between them, and the exporter converts them like upstream's networks.
"""

from typing import Optional

import torch
from torch import nn

from .small_networks import SmallAttention, time_code

NARROW, WIDE = 8, 16


class SmallBlock(nn.Module):
    """A transformer block; the reference network's has no audio attention."""

    only_cross_attention = use_ada_layer_norm = use_ada_layer_norm_zero = False

    def __init__(self, width: int, audio_width: Optional[int] = None):
        super().__init__()
        self.attn1, self.norm1 = SmallAttention(width, width), nn.LayerNorm(width)
        if audio_width is not None:
            self.attn2, self.norm2 = SmallAttention(width, audio_width), nn.LayerNorm(width)
        self.ff = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.norm3 = nn.LayerNorm(width)


class SmallReferenceBlock(SmallBlock):
    def forward(self, hidden_states):
        hidden_states = hidden_states + self.attn1(self.norm1(hidden_states))
        return hidden_states + self.ff(self.norm3(hidden_states))


class SmallDenoiserBlock(SmallBlock):
    """Its computation is supplied by upstream's control or by the exporter, as in upstream's own networks."""

    def forward(self, *_, **__):
        raise NotImplementedError


class _Frames(nn.Module):
    """
    Frames [n, channels, h, w]. The widest of three blocks is the second, so blocks are not paired in the order of their
    use.
    """

    device, dtype, in_channels = torch.device("cpu"), torch.float32, 4

    def __init__(self, channels: int, block):
        super().__init__()
        self.enter, self.time = nn.Conv2d(channels, NARROW, 3, padding=1), nn.Linear(NARROW, NARROW)
        self.first = block(NARROW)
        self.shrink, self.middle, self.grow = nn.Conv2d(NARROW, WIDE, 2, stride=2), block(WIDE), nn.Conv2d(WIDE, 4 * NARROW, 1)
        self.last = block(NARROW)
        self.leave = nn.Conv2d(NARROW, channels, 3, padding=1)

    def frames(self, frames, timestep, **given):
        x = self.enter(frames) + self.time(time_code(timestep.reshape(1), NARROW))[..., None, None]
        x = _over_cells(self.first, x, given)
        small = _over_cells(self.middle, self.shrink(x), given)
        x = _over_cells(self.last, x + nn.functional.pixel_shuffle(self.grow(small), 2), given)
        return self.leave(x)


def _over_cells(block: nn.Module, x: torch.Tensor, given: dict) -> torch.Tensor:
    return block(x.flatten(2).transpose(1, 2), **given).transpose(1, 2).reshape(x.shape)


class SmallReference(_Frames):
    def __init__(self, channels: int):
        super().__init__(channels, SmallReferenceBlock)

    def forward(self, latent, timestep, encoder_hidden_states=None, **_):
        assert encoder_hidden_states is None
        return self.frames(latent, timestep)


class SmallDenoiser(_Frames):
    """
    Sequences [batch, channels, frames, h, w] and audio [batch, frames, tokens, width]; frames influence one another.
    """

    def __init__(self, channels: int, audio_width: int):
        super().__init__(channels, lambda width: SmallDenoiserBlock(width, audio_width))
        self.motion = nn.Conv2d(channels, channels, 1)

    def forward(self, latent, timestep, encoder_hidden_states=None, audio_cond_fea=None, **_):
        assert encoder_hidden_states is None
        batch, channels, window, height, width = latent.shape
        frames = latent.transpose(1, 2).reshape(-1, channels, height, width)
        answer = self.frames(frames, timestep, audio_cond_fea=audio_cond_fea.flatten(0, 1))
        answer = answer.reshape(batch, window, channels, height, width)
        answer = answer + self.motion(answer.mean(1)).tanh()[:, None]
        return (answer.transpose(1, 2),)
