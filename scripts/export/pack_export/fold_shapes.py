"""
Shapes that torch's exporter computes in steps, as constants. For every view a traced graph asks for a size, picks, joins
and reshapes: three quarters of the operators of LatentSync's network, which loads in 2.5 s instead of 6.5 s without them
and keeps the host of a GPU less busy in every run.
"""

from typing import Iterable

import numpy as np
import onnx
from onnx import numpy_helper

from .tensor_shapes import TensorShapes

#: Two sizes for the free dimensions: what depends on one differs between them.
SIZES = (5, 7)


def fold_shapes(model: onnx.ModelProto, free: Iterable[str]) -> None:
    """
    Rewrites a model in place whose inputs have these free dimensions. What is the same for every size becomes a constant;
    so does a shape in which one size is free: that becomes -1, which takes the rest.
    """
    if not hasattr(onnx.shape_inference, "infer_node_outputs"):
        print("  this onnx is too old to follow shapes: they are computed in every run")
        return
    graph = model.graph
    tensors, others = (TensorShapes(graph, dict.fromkeys(free, size)) for size in SIZES)
    wanted = {value.name for value in graph.output}
    computed = {name for node in graph.node if node.op_type != "Constant" for name in node.output} - wanted
    constants = {
        name: value
        for name, value in tensors.values.items()
        if name in computed and np.array_equal(value, others.values.get(name))
    }
    for node in graph.node:
        if node.op_type == "Reshape" and node.input[1] in computed and node.input[1] not in constants:
            (name,) = node.output
            shape = [size if size == other else -1 for size, other in zip(tensors.shapes[name], others.shapes[name])]
            if shape.count(-1) == 1:
                node.input[1] = f"{name}_shape"
                constants[node.input[1]] = np.array(shape, np.int64)
    kept = []
    for node in reversed(graph.node):
        if any(name in wanted and name not in constants for name in node.output):
            kept.append(node.SerializeToString())
            wanted.update(node.input)
    del graph.node[:]
    graph.node.extend(onnx.NodeProto.FromString(node) for node in reversed(kept))
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items() if name in wanted)
