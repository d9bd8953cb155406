"""Weights outside the model file: ONNX models are limited to 2 GiB, and two graphs of one network can share weights."""

import hashlib
from pathlib import Path

import onnx
from onnx import external_data_helper as external
from onnx import numpy_helper

from .graph_weights import array_of

#: Large tensors are aligned to a page, so that the runtime can map them into memory; small ones to a cache line.
PAGE = 4096
LINE = 64
LARGE = 2**20
#: Smaller tensors stay in the model: shapes and scalars, which the runtime reads while loading.
SMALLEST = 1024


class DataFile:
    """A file beside the models to which each tensor is written once, however many models refer to it."""

    def __init__(self, path: Path):
        self.path = path
        self._places = {}
        path.write_bytes(b"")

    def take_weights(self, model: onnx.ModelProto, folder: Path) -> None:
        """Moves the large tensors of a model in `folder` here and leaves references in their place."""
        with self.path.open("ab") as file:
            for tensor in model.graph.initializer:
                stored = numpy_helper.from_array(array_of(tensor, folder), tensor.name)
                if len(stored.raw_data) >= SMALLEST:
                    offset, length = self._place(stored.raw_data, file)
                    external.set_external_data(stored, self.path.name, offset, length)
                    stored.ClearField("raw_data")
                tensor.CopyFrom(stored)

    def _place(self, data: bytes, file) -> tuple:
        digest = hashlib.sha256(data).digest()
        if digest not in self._places:
            file.write(b"\0" * (-file.tell() % (PAGE if len(data) >= LARGE else LINE)))
            self._places[digest] = (file.tell(), len(data))
            file.write(data)
        return self._places[digest]
