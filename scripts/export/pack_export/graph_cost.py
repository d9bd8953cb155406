"""
What a graph costs to run, counted from its model: multiply-accumulates and the memory of weights and intermediate
tensors, at given sizes of its free dimensions. Needs onnx 1.13 or newer.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Dict

import numpy as np
import onnx
from onnx import external_data_helper as external
from onnx import helper, numpy_helper

from .graph_weights import ELEMENT_BYTES, array_of, weight_bytes

#: Their output is their input with another shape.
VIEWS = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"}
#: Operators that multiply, and that no network here has.
UNCOUNTED = {"Einsum", "GRU", "LSTM", "RNN"}
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


@dataclass(frozen=True)
class GraphCost:
    multiply_accumulates: int
    weight_bytes: int
    #: The largest sum of tensors that exist at one time, beside the weights, if every operator but a view has an output
    #: of its own.
    live_bytes: int


def cost_of(path: Path, sizes: Dict[str, int]) -> GraphCost:
    """`sizes` are those of the free dimensions."""
    graph = onnx.load(str(path), load_external_data=False).graph
    tensors = _Tensors(graph, sizes)
    for node in graph.node:
        tensors.infer(node)
    return GraphCost(
        sum(_multiplications(node, tensors.shapes) for node in graph.node),
        sum(map(weight_bytes, graph.initializer)),
        _live_bytes(graph, tensors),
    )


class _Tensors:
    """Types and shapes of all tensors, and the contents of those that shapes are computed from."""

    def __init__(self, graph: onnx.GraphProto, sizes: Dict[str, int]):
        self.types, self.shapes, self._values = {}, {}, {}
        for value in graph.input:
            tensor = value.type.tensor_type
            self._add(value.name, tensor.elem_type, [size.dim_value or sizes[size.dim_param] for size in tensor.shape.dim])
        for tensor in graph.initializer:
            self._add(tensor.name, tensor.data_type, tensor.dims)
            if not external.uses_external_data(tensor):
                self._follow(tensor.name, array_of(tensor, Path()))

    def bytes(self, name: str) -> int:
        return math.prod(self.shapes[name]) * ELEMENT_BYTES.get(self.types[name], 4)

    def infer(self, node: onnx.NodeProto) -> None:
        given = [name for name in node.input if name]
        if node.op_type == "MultiHeadAttention":
            # ONNX does not know it: the answer has the shape of the query.
            self._add(node.output[0], self.types[given[0]], self.shapes[given[0]])
        elif node.op_type == "Shape":
            self._set(node.output[0], np.array(self.shapes[given[0]], np.int64))
        elif node.op_type in SHAPE_ARITHMETIC and all(name in self._values for name in given):
            attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
            self._set(node.output[0], SHAPE_ARITHMETIC[node.op_type](*(self._values[name] for name in given), **attributes))
        else:
            for name, kind in self._inferred(node, given).items():
                tensor = kind.tensor_type
                shape = [size.dim_value for size in tensor.shape.dim]
                if any(not size.HasField("dim_value") for size in tensor.shape.dim):
                    raise ValueError(f"the shape of {name}, made by {node.op_type}, is unknown")
                self._add(name, tensor.elem_type, shape)

    def _inferred(self, node: onnx.NodeProto, given: list) -> dict:
        schema = onnx.defs.get_schema(node.op_type, 17, node.domain)
        kinds = {name: helper.make_tensor_type_proto(self.types[name], self.shapes[name]) for name in given}
        values = {name: numpy_helper.from_array(self._values[name]) for name in given if name in self._values}
        return onnx.shape_inference.infer_node_outputs(schema, node, kinds, values)

    def _add(self, name: str, kind: int, shape) -> None:
        self.types[name], self.shapes[name] = kind, tuple(shape)

    def _set(self, name: str, value) -> None:
        value = np.asarray(value)
        self._add(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        self._follow(name, value)

    def _follow(self, name: str, value: np.ndarray) -> None:
        if value.size <= FOLLOWED:
            self._values[name] = value


def _multiplications(node: onnx.NodeProto, shapes: Dict[str, tuple]) -> int:
    given, made = [shapes.get(name, ()) for name in node.input], math.prod(shapes[node.output[0]])
    if node.op_type == "Conv":
        return made * math.prod(given[1][1:])
    if node.op_type == "ConvTranspose":
        return math.prod(given[0]) * math.prod(given[1][1:])
    if node.op_type == "MatMul":
        return made * given[0][-1]
    if node.op_type == "Gemm":
        turned = any(attribute.name == "transA" and attribute.i for attribute in node.attribute)
        return made * given[0][0 if turned else -1]
    if node.op_type == "MultiHeadAttention":
        # Scores, and sums of values: both every query token with every key token.
        return 2 * made * given[1][1]
    if node.op_type in UNCOUNTED:
        raise ValueError(f"it is unknown here what {node.op_type} multiplies")
    return 0


def _live_bytes(graph: onnx.GraphProto, tensors: _Tensors) -> int:
    # The tensor in whose memory each one is.
    home = {}
    for node in graph.node:
        for name in node.output:
            home[name] = home.get(node.input[0], node.input[0]) if node.op_type in VIEWS else name
    last = {}
    for at, node in enumerate(graph.node):
        last.update((home.get(name, name), at) for name in [*node.input, *node.output])
    last.update((home[value.name], len(graph.node)) for value in graph.output)
    ending = {}
    for name, at in last.items():
        ending.setdefault(at, []).append(name)
    live = {value.name: tensors.bytes(value.name) for value in graph.input}
    total = peak = sum(live.values())
    for at, node in enumerate(graph.node):
        made = {name: tensors.bytes(name) for name in node.output if name and home[name] == name}
        live.update(made)
        total += sum(made.values())
        peak = max(peak, total)
        total -= sum(live.pop(name, 0) for name in ending.get(at, []))
    return peak
