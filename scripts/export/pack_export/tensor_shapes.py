"""Shapes of all tensors of a graph at given sizes of its free dimensions, without running it. Needs onnx 1.13 or newer."""

import math
from pathlib import Path
from typing import Dict

import numpy as np
import onnx
from onnx import external_data_helper as external
from onnx import helper, numpy_helper

from .graph_weights import ELEMENT_BYTES, array_of

#: Values of at most so many elements are followed: shapes, and what is computed from them.
FOLLOWED = 64


def _sliced(values, starts, ends, axes=None, steps=None):
    picked = [slice(None)] * values.ndim
    for i, axis in enumerate(range(len(starts)) if axes is None else axes):
        picked[axis] = slice(starts[i], ends[i], 1 if steps is None else steps[i])
    return values[tuple(picked)]


#: What torch's exporter computes shapes with; a graph in which another operator does has shapes that stay unknown.
SHAPE_ARITHMETIC = {
    "Constant": lambda value: numpy_helper.to_array(value),
    "ConstantOfShape": lambda shape, value: np.full(shape, numpy_helper.to_array(value)[0]),
    "Cast": lambda values, to: values.astype(helper.tensor_dtype_to_np_dtype(to)),
    "Gather": lambda values, at, axis=0: np.take(values, at, axis),
    "Slice": _sliced,
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Unsqueeze": lambda values, axes: np.expand_dims(values, tuple(axes)),
    "Squeeze": lambda values, axes: np.squeeze(values, tuple(axes)),
    "Reshape": lambda values, shape, allowzero=0: values.reshape(shape),
    "Transpose": lambda values, perm=None: np.transpose(values, perm),
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": lambda a, b: a // b if a.dtype.kind == "i" else a / b,
    "Equal": np.equal,
    "Where": np.where,
}


class TensorShapes:
    """Types and shapes of all tensors, and the contents of those that shapes are computed from, by name."""

    def __init__(self, graph: onnx.GraphProto, sizes: Dict[str, int]):
        self.types, self.shapes, self.values = {}, {}, {}
        for value in graph.input:
            tensor = value.type.tensor_type
            self._add(value.name, tensor.elem_type, [size.dim_value or sizes[size.dim_param] for size in tensor.shape.dim])
        for tensor in graph.initializer:
            self._add(tensor.name, tensor.data_type, tensor.dims)
            if not external.uses_external_data(tensor):
                self._follow(tensor.name, array_of(tensor, Path()))
        for node in graph.node:
            self._infer(node)

    def bytes(self, name: str) -> int:
        return math.prod(self.shapes[name]) * ELEMENT_BYTES.get(self.types[name], 4)

    def _infer(self, node: onnx.NodeProto) -> None:
        given = [name for name in node.input if name]
        if node.domain == "com.microsoft":
            self._add(node.output[0], self.types[given[0]], self._contrib_shape(node, self.shapes[given[0]]))
        elif node.op_type == "Shape":
            self._set(node.output[0], np.array(self.shapes[given[0]], np.int64))
        elif node.op_type in SHAPE_ARITHMETIC and all(name in self.values for name in given):
            attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
            self._set(node.output[0], SHAPE_ARITHMETIC[node.op_type](*(self.values[name] for name in given), **attributes))
        else:
            for name, kind in self._inferred(node, given).items():
                tensor = kind.tensor_type
                shape = [size.dim_value for size in tensor.shape.dim]
                if any(not size.HasField("dim_value") for size in tensor.shape.dim):
                    raise ValueError(f"the shape of {name}, made by {node.op_type}, is unknown")
                self._add(name, tensor.elem_type, shape)

    def _contrib_shape(self, node: onnx.NodeProto, shape: tuple) -> tuple:
        """The shape of what an operator makes that ONNX does not know: most often that of its first input."""
        if node.op_type == "BiasSplitGelu":
            return (*shape[:-1], shape[-1] // 2)
        if node.op_type != "NhwcConv":
            return shape
        conv = helper.make_node("Conv", ["x", "w"], ["y"])
        conv.attribute.extend(node.attribute)
        weight = self.shapes[node.input[1]]
        order = (0, len(shape) - 1, *range(1, len(shape) - 1))
        turned = [helper.make_tensor_type_proto(1, [sizes[axis] for axis in order]) for sizes in (shape, weight)]
        made = onnx.shape_inference.infer_node_outputs(onnx.defs.get_schema("Conv", 17), conv, dict(zip("xw", turned)), {})
        sizes = [size.dim_value for size in made["y"].tensor_type.shape.dim]
        return (sizes[0], *sizes[2:], sizes[1])

    def _inferred(self, node: onnx.NodeProto, given: list) -> dict:
        schema = onnx.defs.get_schema(node.op_type, 17, node.domain)
        kinds = {name: helper.make_tensor_type_proto(self.types[name], self.shapes[name]) for name in given}
        values = {name: numpy_helper.from_array(self.values[name]) for name in given if name in self.values}
        return onnx.shape_inference.infer_node_outputs(schema, node, kinds, values)

    def _add(self, name: str, kind: int, shape) -> None:
        self.types[name], self.shapes[name] = kind, tuple(shape)

    def _set(self, name: str, value) -> None:
        value = np.asarray(value)
        self._add(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        self._follow(name, value)

    def _follow(self, name: str, value: np.ndarray) -> None:
        if value.size <= FOLLOWED:
            self.values[name] = value
