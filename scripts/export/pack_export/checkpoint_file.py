"""
Names, shapes and types of the tensors in a checkpoint file. No weights are read and nothing that a pickle asks for is
run: torch.load would run it, in the releases and with the arguments that most upstream repositories use. A file in which
torch could find another pickle than this module is refused.
"""

import json
import math
import os
import pickle
import re
import struct
import tarfile
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import BinaryIO, Dict, NamedTuple, Tuple, Union

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
#: What torch.save writes below the archive's only folder. TorchScript, which runs code, has more.
RECORD = re.compile(r"data\.pkl|data/\d+|version|byteorder|\.data/serialization_id|\.format_version|\.storage_alignment")
#: The end of an archive, and what precedes it in those that may be large (APPNOTE.TXT 4.3.14 to 4.3.16): signatures,
#: size and start of the directory, the place of the other record, the length of a comment.
END = struct.Struct("<4s8xLLH")
LARGE_END = struct.Struct("<4s36xQQ")
LARGE_LOCATOR = struct.Struct("<4s4xQ4x")


class UnreadableCheckpoint(Exception):
    """The message says what is wrong with the file."""


class Tensor(NamedTuple):
    type: str
    shape: Tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.type} {list(self.shape)}"

    def __setstate__(self, _) -> None:
        """Before torch 0.4, parameters were pickled with whether they want gradients."""


def read_checkpoint(file: Union[Path, BinaryIO]) -> dict:
    """What torch.load or safetensors would return for a path or an open file, with a Tensor for every tensor."""
    try:
        if not isinstance(file, Path):
            content = _read_torch(file)
        elif file.suffix == ".safetensors":
            content = {key: tensor for key, (tensor, _) in read_safetensors(file).items()}
        else:
            with file.open("rb") as opened:
                content = _read_torch(opened)
    except UnreadableCheckpoint:
        raise
    except FileNotFoundError:
        raise UnreadableCheckpoint("is missing") from None
    except Exception as error:  # Damaged files make pickle, zipfile and json raise almost anything.
        raise UnreadableCheckpoint(f"is damaged, incomplete or no checkpoint ({error!r})") from error
    if not isinstance(content, dict):
        raise UnreadableCheckpoint(f"holds a {type(content).__name__} instead of named tensors")
    return content


def read_safetensors(path: Path) -> Dict[str, Tuple[Tensor, int]]:
    """Each tensor with the place in the file where its numbers begin. They follow each other without gaps."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    tensors, place = {}, 8 + length
    for key, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        tensor = Tensor(SAFETENSORS_TYPES.get(entry["dtype"], entry["dtype"]), tuple(entry["shape"]))
        tensors[key] = tensor, place
        place += math.prod(tensor.shape) * _bytes_of(tensor.type)
        if 8 + length + entry["data_offsets"][1] != place:
            raise UnreadableCheckpoint(f"gives {key} more or fewer bytes than a {tensor} has")
    if place != path.stat().st_size:
        raise UnreadableCheckpoint("is cut off or has bytes behind its tensors")
    return tensors


def _bytes_of(type_name: str) -> int:
    return int(re.sub(r"\D", "", type_name) or 8) // 8


def is_archive(file: BinaryIO) -> bool:
    """Whether torch, too, takes an open file for an archive."""
    magic = file.read(4)
    file.seek(0)
    return magic == b"PK\3\4"


def _read_torch(file: BinaryIO):
    return _read_archive(file) if is_archive(file) else _read_legacy(file)


def _read_archive(file: BinaryIO):
    archive = zipfile.ZipFile(file)
    _refuse_other_directories(file)
    names = [entry.orig_filename for entry in archive.infolist()]
    folder = names[0].partition("/")[0]
    for name in names:
        if not (name.startswith(f"{folder}/") and RECORD.fullmatch(name[len(folder) + 1 :])):
            raise UnreadableCheckpoint(f"holds {name}, which torch.save does not write")
        if names.count(name) > 1:
            raise UnreadableCheckpoint(f"holds two records of the same name: {name}")
    with archive.open(f"{folder}/data.pkl") as content:
        return _Shapes(content).load()


def _refuse_other_directories(file: BinaryIO) -> None:
    """Readers differ in where they look for the directory, unless it alone lies between the last record and the end."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - LARGE_END.size - LARGE_LOCATOR.size - END.size))
    tail = file.read()
    end, locator = len(tail) - END.size, len(tail) - END.size - LARGE_LOCATOR.size
    # Without the signature, readers look further up for another end.
    signature, *directory, comment = END.unpack_from(tail, end)
    unique, length = signature == b"PK\5\6" and comment == 0, END.size
    if locator >= 0 and tail[locator:].startswith(b"PK\6\7"):
        length = len(tail)
        _, place = LARGE_LOCATOR.unpack_from(tail, locator)
        signature, *large = LARGE_END.unpack_from(tail)
        unique &= signature == b"PK\6\6" and place == size - length and directory == [min(n, 0xFFFFFFFF) for n in large]
        directory = large
    if not unique or sum(directory) + length != size:
        raise UnreadableCheckpoint("has bytes before its archive, or behind it")


def _read_legacy(file: BinaryIO):
    if _is_tar(file):
        raise UnreadableCheckpoint("is a tar archive, as torch wrote them before 2017")
    if _Shapes(file).load() != LEGACY_MAGIC:
        raise UnreadableCheckpoint("is no file of torch.save")
    _protocol, _system = _Shapes(file).load(), _Shapes(file).load()
    objects = _Shapes(file)
    content = objects.load()
    for key in _Shapes(file).load():
        numbers = int.from_bytes(file.read(8), "little")
        file.seek(numbers * _bytes_of(objects.storages[key]), os.SEEK_CUR)
    if file.tell() != file.seek(0, os.SEEK_END):
        raise UnreadableCheckpoint("does not end with its last tensor")
    return content


def _is_tar(file: BinaryIO) -> bool:
    """Torch tries this first."""
    try:
        tarfile.open(fileobj=file, mode="r:").close()
        return True
    except tarfile.ReadError:
        return False
    finally:
        file.seek(0)


class _Shapes(pickle.Unpickler):
    """Unpickles the containers of a state dict, and a Tensor in the place of each tensor."""

    def __init__(self, file):
        super().__init__(file)
        #: The type of each storage by its key.
        self.storages: Dict[str, str] = {}

    def persistent_load(self, reference):
        kind, storage_type, key, *_ = reference
        if kind != "storage":
            raise UnreadableCheckpoint(f"refers to a {kind} instead of tensors")
        self.storages[key] = storage_type
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
