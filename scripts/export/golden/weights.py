"""Random weights that are the same on every machine: torch's own generators promise nothing across releases."""

import itertools

import numpy as np
import torch
from torch import nn

from .noise import noise

SEED = 20
#: Distance of biases from 0 and of norms' factors from 1.
SPREAD = 0.25
NORMS = (nn.LayerNorm, nn.GroupNorm)
#: Holds positional codes rather than weights, but thousands of numbers all the same.
POSITIONS = "positional_embedding"


def draw_weights(networks: list, signs_only: bool = False) -> None:
    """
    Fills all weights, including those that upstream initializes to zeros, which would hide the effect of their layers.
    With `signs_only` every weight is one standard deviation above or below the mean: a gigabyte of these compresses to
    thirty megabytes.
    """
    tensors = itertools.chain.from_iterable(_tensors(network) for network in networks)
    for stream, (tensor, mean, spread) in enumerate(tensors):
        values = noise(tensor.numel(), SEED, stream)
        values = np.where(values < 0, -1, 1) if signs_only else values
        with torch.no_grad():
            tensor.copy_(torch.from_numpy((mean + spread * values).astype(np.float32)).reshape(tensor.shape))


def _tensors(network: nn.Module):
    """Every tensor with the mean and the standard deviation of its distribution."""
    for module in network.modules():
        for name, tensor in module.named_parameters(recurse=False):
            if tensor.dim() > 1:
                yield tensor, 0, (3 * tensor[0].numel()) ** -0.5
            else:
                yield tensor, int(isinstance(module, NORMS) and name == "weight"), SPREAD
        for name, tensor in module.named_buffers(recurse=False):
            if name == POSITIONS:
                yield tensor, 0, 1
