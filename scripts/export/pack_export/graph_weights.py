"""
Weights of a traced graph. Those of a small one are in its model; those of a large one in files beside it, a file per
tensor as torch's exporter writes them. They are read and replaced one at a time, so that a graph needs little memory.
"""

import math
from pathlib import Path

import numpy as np
import onnx
from onnx import external_data_helper as external
from onnx import TensorProto, numpy_helper

#: Of the types that are not four bytes long.
ELEMENT_BYTES = {
    TensorProto.DOUBLE: 8, TensorProto.INT64: 8, TensorProto.FLOAT16: 2, TensorProto.BFLOAT16: 2, TensorProto.INT8: 1,
    TensorProto.UINT8: 1, TensorProto.BOOL: 1,
}  # fmt: skip


def array_of(tensor: onnx.TensorProto, folder: Path) -> np.ndarray:
    """The contents of a tensor of a model in `folder`."""
    if not external.uses_external_data(tensor):
        return numpy_helper.to_array(tensor)
    # Reading leaves the contents in the message: a copy keeps the model small.
    copy = onnx.TensorProto()
    copy.CopyFrom(tensor)
    return numpy_helper.to_array(copy, str(folder))


def keep_inside(tensor: onnx.TensorProto, folder: Path) -> None:
    """Moves a tensor from its file into the model: constants, which a data file does not take."""
    if external.uses_external_data(tensor):
        tensor.CopyFrom(numpy_helper.from_array(array_of(tensor, folder), tensor.name))


def weight_bytes(tensor: onnx.TensorProto) -> int:
    """The size of a tensor's contents, wherever they are."""
    return math.prod(tensor.dims) * ELEMENT_BYTES.get(tensor.data_type, 4)


def replace(tensor: onnx.TensorProto, array: np.ndarray, folder: Path) -> None:
    """Gives the tensor other contents, in its file if it has one."""
    replaced = numpy_helper.from_array(np.ascontiguousarray(array), tensor.name)
    if external.uses_external_data(tensor):
        file = external.ExternalDataInfo(tensor).location
        (Path(folder) / file).write_bytes(replaced.raw_data)
        external.set_external_data(replaced, file)
        replaced.ClearField("raw_data")
    tensor.CopyFrom(replaced)
