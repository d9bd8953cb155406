"""
What a graph costs to run, counted from its model: multiply-accumulates and the memory of weights and intermediate
tensors, at given sizes of its free dimensions. Needs onnx 1.13 or newer.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Dict

import onnx

from .graph_weights import weight_bytes
from .tensor_shapes import TensorShapes

#: Their output is their input with another shape.
VIEWS = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"}
#: Operators that multiply, and that no network here has.
UNCOUNTED = {"Einsum", "GRU", "LSTM", "RNN"}


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
    tensors = TensorShapes(graph, sizes)
    return GraphCost(
        sum(_multiplications(node, tensors.shapes) for node in graph.node),
        sum(map(weight_bytes, graph.initializer)),
        _live_bytes(graph, tensors),
    )


def _multiplications(node: onnx.NodeProto, shapes: Dict[str, tuple]) -> int:
    given, made = [shapes.get(name, ()) for name in node.input], math.prod(shapes[node.output[0]])
    if node.op_type in ("Conv", "NhwcConv"):
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


def _live_bytes(graph: onnx.GraphProto, tensors: TensorShapes) -> int:
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
