"""Random weights that are the same wherever they are drawn: torch's own generators promise nothing across releases."""

import itertools

import numpy as np
import torch
from torch import nn

from .noise import noise

SEED = 20
#: How far biases lie from 0 and the factors of norms from 1.
SPREAD = 0.25
NORMS = (nn.LayerNorm, nn.GroupNorm)
#: Holds positions and not weights, but thousands of numbers all the same.
POSITIONS = "positional_embedding"


def draw_weights(networks: list, signs_only: bool = False) -> None:
    """
    Fills all weights, also those that upstream begins training with as zeros, for these would hide what they do.
    `signs_only`: as large as the distribution is wide, above or below its mean; a gigabyte of such compresses to one
    of thirty megabytes.
    """
    tensors = itertools.chain.from_iterable(_tensors(network) for network in networks)
    for stream, (tensor, mean, spread) in enumerate(tensors):
        values = noise(tensor.numel(), SEED, stream)
        values = np.where(values < 0, -1, 1) if signs_only else values
        with torch.no_grad():
            tensor.copy_(torch.from_numpy((mean + spread * values).astype(np.float32)).reshape(tensor.shape))


def _tensors(network: nn.Module):
    """Every tensor with the mean and the width of its distribution."""
    for module in network.modules():
        for name, tensor in module.named_parameters(recurse=False):
            if tensor.dim() > 1:
                yield tensor, 0, (3 * tensor[0].numel()) ** -0.5
            else:
                yield tensor, int(isinstance(module, NORMS) and name == "weight"), SPREAD
        for name, tensor in module.named_buffers(recurse=False):
            if name == POSITIONS:
                yield tensor, 0, 1
