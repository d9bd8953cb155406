"""
Checkpoints that stay in their files. Upstream's loaders read a checkpoint into memory and copy it into a network that
has random weights of the same size; and all of it would stay in memory beside what tracing needs.
"""

import inspect
import zipfile
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn


@contextmanager
def mapped_checkpoints():
    """
    Inside this context, torch.load maps files into memory, and load_state_dict makes the mapped tensors the network's
    own. The system reads them when they are used and may drop them again. Files of before torch 1.6, tensors of another
    type than the network's, and torch before 2.1 are read and copied as ever.
    """
    load, load_state_dict = torch.load, nn.Module.load_state_dict
    if "mmap" not in inspect.signature(load).parameters:
        yield
        return

    def mapping_load(file, *arguments, **options):
        if isinstance(file, (str, Path)) and zipfile.is_zipfile(file):
            options.setdefault("mmap", True)
        return load(file, *arguments, **options)

    def assigning_load(network, state_dict, *arguments, **options):
        own = network.state_dict()
        if all(key not in own or own[key].dtype == tensor.dtype for key, tensor in state_dict.items()):
            options.setdefault("assign", True)
        return load_state_dict(network, state_dict, *arguments, **options)

    torch.load, nn.Module.load_state_dict = mapping_load, assigning_load
    try:
        yield
    finally:
        torch.load, nn.Module.load_state_dict = load, load_state_dict
