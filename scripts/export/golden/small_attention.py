"""The attention layers of the small networks."""

import math
from typing import Optional

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
