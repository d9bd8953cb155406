"""The network: a few dilated convolutions from the spectrogram to the five cues, half a second of context around."""

import json
import struct
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from .spectrogram import BANDS
from .trajectories import CUES

CHANNELS = 64
DILATIONS = (1, 2, 4, 8, 4, 2, 1)


class Hearing(nn.Module):
    """[n, 80, 2 × steps] → [n, 5, steps]: closure and dental as log odds, the others as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(BANDS, CHANNELS, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList(nn.Conv1d(CHANNELS, CHANNELS, 3, padding=d, dilation=d) for d in DILATIONS)
        self.norms = nn.ModuleList(nn.BatchNorm1d(CHANNELS) for _ in range(len(DILATIONS) + 1))
        self.last = nn.Conv1d(CHANNELS, len(CUES), 1)

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        hidden = F.relu(self.norms[0](self.first(mel)))
        for block, norm in zip(self.blocks, self.norms[1:]):
            hidden = hidden + F.relu(norm(block(hidden)))
        return self.last(hidden)


def folded(network: Hearing) -> dict:
    """Weights and biases by name, with every normalization multiplied into the convolution before it."""
    tensors = {}
    for i, (layer, norm) in enumerate(zip([network.first, *network.blocks], network.norms)):
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        tensors[f"{i}.weight"] = layer.weight * scale[:, None, None]
        tensors[f"{i}.bias"] = (layer.bias - norm.running_mean) * scale + norm.bias
    tensors["last.weight"], tensors["last.bias"] = network.last.weight, network.last.bias
    return {name: tensor.detach().numpy().astype("<f2") for name, tensor in tensors.items()}


def outputs_of(tensors: dict, mel: np.ndarray) -> np.ndarray:
    """[steps, 5] of one spectrogram [80, 2 × steps], by the weights as they are stored."""
    part = lambda name: torch.from_numpy(tensors[name].astype(np.float32))
    convolved = lambda x, name, **options: F.conv1d(x, part(f"{name}.weight"), part(f"{name}.bias"), **options)
    hidden = F.relu(convolved(torch.from_numpy(mel.astype(np.float32))[None], "0", stride=2, padding=2))
    for i, dilation in enumerate(DILATIONS, 1):
        hidden = hidden + F.relu(convolved(hidden, str(i), padding=dilation, dilation=dilation))
    return convolved(hidden, "last")[0].numpy().T


def write_safetensors(path: Path, tensors: dict, metadata: dict) -> None:
    """Half-precision tensors in the safetensors format: the header's length, the header in JSON, the data."""
    header, data = {"__metadata__": metadata}, b""
    for name, tensor in tensors.items():
        stored = tensor.tobytes()
        header[name] = {"dtype": "F16", "shape": tensor.shape, "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + data)
