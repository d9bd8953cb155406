"""
Names, shapes and types of the tensors in a checkpoint file. No weights are read and nothing that a pickle asks for is
run: torch.load would run it, in the releases and with the arguments that most upstream repositories use.
"""

import json
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple, Tuple

SAFETENSORS_TYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool",
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8",
}  # fmt: skip
STORAGE_TYPES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool",
}  # fmt: skip
#: Precedes the objects in files of torch before 1.6, which have no archive around them.
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C


class UnreadableCheckpoint(Exception):
    """The message says what is wrong with the file."""


class Tensor(NamedTuple):
    type: str
    shape: Tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.type} {list(self.shape)}"

    def __setstate__(self, _) -> None:
        """Before torch 0.4, parameters were pickled with whether they want gradients."""


def read_checkpoint(path: Path) -> dict:
    """What torch.load or safetensors would return, with a Tensor for every tensor."""
    try:
        read = _read_safetensors if path.suffix == ".safetensors" else _read_torch
        content = read(path)
    except UnreadableCheckpoint:
        raise
    except FileNotFoundError:
        raise UnreadableCheckpoint("is missing") from None
    except Exception as error:  # Damaged files make pickle, zipfile and json raise almost anything.
        raise UnreadableCheckpoint(f"is damaged, incomplete or no checkpoint ({error!r})") from error
    if not isinstance(content, dict):
        raise UnreadableCheckpoint(f"holds a {type(content).__name__} instead of named tensors")
    return content


def _read_safetensors(path: Path) -> dict:
    with path.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    header.pop("__metadata__", None)
    return {
        key: Tensor(SAFETENSORS_TYPES.get(entry["dtype"], entry["dtype"]), tuple(entry["shape"]))
        for key, entry in header.items()
    }


def _read_torch(path: Path):
    with path.open("rb") as file:
        if zipfile.is_zipfile(file):
            archive = zipfile.ZipFile(file)
            (name,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
            with archive.open(name) as content:
                return _Shapes(content).load()
        file.seek(0)
        if _Shapes(file).load() != LEGACY_MAGIC:
            raise UnreadableCheckpoint("is no file of torch.save")
        _protocol, _system = _Shapes(file).load(), _Shapes(file).load()
        return _Shapes(file).load()


class _Shapes(pickle.Unpickler):
    """Unpickles the containers of a state dict, and a Tensor in the place of each tensor."""

    def persistent_load(self, reference):
        kind, storage_type, *_ = reference
        if kind != "storage":
            raise UnreadableCheckpoint(f"refers to a {kind} instead of tensors")
        return storage_type

    def find_class(self, module: str, name: str):
        if module == "torch" and name in STORAGE_TYPES:
            return STORAGE_TYPES[name]
        try:
            return CONTAINERS[module, name]
        except KeyError:
            raise UnreadableCheckpoint(f"holds {module}.{name}, which loading would run, beside tensors") from None


def _tensor(storage_type: str, _offset: int, shape, *_) -> Tensor:
    return Tensor(storage_type, tuple(shape))


CONTAINERS = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch", "Size"): tuple,
    ("torch._utils", "_rebuild_tensor"): _tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_parameter"): lambda tensor, *_: tensor,
    ("torch.nn.parameter", "Parameter"): lambda tensor: Tensor(*tensor),
}
