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
#: Steps on either side with which a contact of the lips is compared, and the log odds below which a no is a no.
AROUND, FLOOR = 6, -6.0


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


def contrasted(outputs: torch.Tensor) -> torch.Tensor:
    """
    Contacts of the lips are short, and how probable the network finds them at all depends on voice and recording. So for
    closure and dental counts by how much they are more probable than on average around, 0.12 s before and after.
    """
    bounded = torch.clamp(outputs, min=FLOOR)
    around = F.avg_pool1d(bounded, 2 * AROUND + 1, stride=1, padding=AROUND, count_include_pad=False)
    return bounded - around * torch.tensor([1.0, 0, 0, 0, 1])[:, None]


def unfolded(tensors: dict, mel: torch.Tensor) -> Hearing:
    """A network that may be trained further; its normalizations fit these spectrograms and change nothing yet."""
    network, hidden = Hearing().eval(), None
    stored = lambda name: torch.from_numpy(tensors[name].astype(np.float32))
    with torch.no_grad():
        for i, (layer, norm) in enumerate(zip([network.first, *network.blocks], network.norms)):
            layer.weight.copy_(stored(f"{i}.weight"))
            layer.bias.copy_(stored(f"{i}.bias"))
            convolved = layer(mel if hidden is None else hidden)
            norm.running_mean.copy_(convolved.mean((0, 2)))
            norm.running_var.copy_(convolved.var((0, 2)))
            norm.weight.copy_(torch.sqrt(norm.running_var + norm.eps))
            norm.bias.copy_(norm.running_mean)
            hidden = F.relu(norm(convolved)) + (0 if hidden is None else hidden)
        network.last.weight.copy_(stored("last.weight"))
        network.last.bias.copy_(stored("last.bias"))
    return network


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
    """[steps, 5] of one spectrogram [80, 2 × steps], by the weights as they are stored; contacts `contrasted`."""
    part = lambda name: torch.from_numpy(tensors[name].astype(np.float32))
    convolved = lambda x, name, **options: F.conv1d(x, part(f"{name}.weight"), part(f"{name}.bias"), **options)
    hidden = F.relu(convolved(torch.from_numpy(mel.astype(np.float32))[None], "0", stride=2, padding=2))
    for i, dilation in enumerate(DILATIONS, 1):
        hidden = hidden + F.relu(convolved(hidden, str(i), padding=dilation, dilation=dilation))
    return contrasted(convolved(hidden, "last"))[0].numpy().T


def mean_of(several: list) -> dict:
    """Of networks that were trained from the same start."""
    return {name: np.mean([one[name].astype(np.float32) for one in several], 0).astype("<f2") for name in several[0]}


def read_safetensors(path: Path) -> dict:
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__")
    return {
        name: np.frombuffer(data[slice(*(start + offset for offset in entry["data_offsets"]))], "<f2").reshape(entry["shape"])
        for name, entry in header.items()
    }


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
