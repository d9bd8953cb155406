"""
The one way in which checkpoints are loaded, by the exporters and by upstream's loaders inside them: checked, without
running what a pickle asks for, and mapped. Upstream's loaders read a checkpoint into memory and copy it into a network
that has random weights of the same size; and all of it would stay in memory beside what tracing needs.
"""

import inspect
import mmap
import os
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Dict, Union

import torch
from torch import nn

from .checkpoint_file import UnreadableCheckpoint, is_archive, read_checkpoint, read_safetensors

#: With this setting, torch loads pickles as before release 2.6: it runs what they ask for.
FORCED = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
torch_load = torch.load


def load_checkpoint(file: Union[str, Path, BinaryIO], map_location="cpu", *_, **__) -> dict:
    """
    The content of a checkpoint. Takes the arguments of torch.load and ignores those that would change how it reads.
    Files are mapped into memory: the system reads weights when they are used and may drop them again. Files of before
    torch 1.6 are read whole, and so are all with torch before 2.1. Raises UnreadableCheckpoint.
    """
    file = Path(file) if isinstance(file, str) else file
    read_checkpoint(file)
    os.environ.pop(FORCED, None)
    try:
        if not isinstance(file, Path):
            file.seek(0)
            return torch_load(file, map_location=map_location, weights_only=True)
        if file.suffix == ".safetensors":
            return _mapped_safetensors(file)
        # Torch 2.1 and 2.2 map only a file that is named by a string.
        return torch_load(str(file), map_location=map_location, weights_only=True, **_mapping(file))
    except Exception as error:
        raise UnreadableCheckpoint(f"cannot be loaded ({error!r})") from error


def _mapping(path: Path) -> dict:
    with path.open("rb") as file:
        return {"mmap": True} if is_archive(file) and "mmap" in inspect.signature(torch_load).parameters else {}


def _mapped_safetensors(path: Path) -> Dict[str, torch.Tensor]:
    with path.open("rb") as file:
        # A private copy of what is written to, which nothing is: torch takes no memory that cannot be written.
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    tensors = {}
    for key, (tensor, place) in read_safetensors(path).items():
        kind, numbers = getattr(torch, tensor.type), torch.Size(tensor.shape).numel()
        flat = torch.frombuffer(content, dtype=kind, count=numbers, offset=place) if numbers else torch.empty(0, dtype=kind)
        tensors[key] = flat.reshape(tensor.shape)
    return tensors


@contextmanager
def safe_loading():
    """
    Inside this context, torch.load is load_checkpoint, and load_state_dict makes the loaded tensors the network's own.
    Tensors of another type than the network's are copied, and so are all with torch before 2.1.
    """
    load_state_dict = nn.Module.load_state_dict
    may_assign = "assign" in inspect.signature(load_state_dict).parameters

    def assigning_load(network, state_dict, *arguments, **options):
        own = network.state_dict()
        if may_assign and all(key not in own or own[key].dtype == tensor.dtype for key, tensor in state_dict.items()):
            options.setdefault("assign", True)
        return load_state_dict(network, state_dict, *arguments, **options)

    torch.load, nn.Module.load_state_dict = load_checkpoint, assigning_load
    try:
        yield
    finally:
        torch.load, nn.Module.load_state_dict = torch_load, load_state_dict
