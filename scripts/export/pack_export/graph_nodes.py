"""Nodes of a graph by the names of the tensors that they make and take, for rewrites that replace several by one."""

from pathlib import Path
from typing import Callable, Dict, List, Optional

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .graph_weights import array_of

#: Operators through which a constant is followed to its value.
FOLLOWED: Dict[str, Callable] = {
    "Identity": lambda value: value,
    "Cast": lambda value, to: value.astype(helper.tensor_dtype_to_np_dtype(to)),
    "Unsqueeze": lambda value, axes: np.expand_dims(value, tuple(axes)),
}


class GraphNodes:
    """A model's nodes as they were when this was made; `replaced` takes effect in `write`."""

    def __init__(self, model: onnx.ModelProto, folder: Path):
        self.graph, self._folder = model.graph, folder
        # Kept as a list, because a repeated field creates new objects on every access.
        self.nodes = list(model.graph.node)
        self.weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self.makers = {name: node for node in self.nodes for name in node.output}
        self.users: Dict[str, List[onnx.NodeProto]] = {}
        for node in self.nodes:
            for name in node.input:
                self.users.setdefault(name, []).append(node)
        self._outputs = {value.name for value in model.graph.output}
        self._replaced: Dict[str, onnx.NodeProto] = {}

    def maker(self, name: str, operator: str) -> Optional[onnx.NodeProto]:
        """The node that makes a tensor, if it is such an operator."""
        node = self.makers.get(name)
        return node if node is not None and node.op_type == operator else None

    def only_user(self, node: onnx.NodeProto, operator: str) -> Optional[onnx.NodeProto]:
        """The node that alone takes a node's output, if it is such an operator."""
        users = self.users.get(node.output[0], [])
        alone = len(users) == 1 and node.output[0] not in self._outputs
        return users[0] if alone and users[0].op_type == operator else None

    def value(self, name: str) -> Optional[np.ndarray]:
        """The contents of a tensor that is the same in every run, or None."""
        if name in self.weights:
            return array_of(self.weights[name], self._folder)
        node = self.makers.get(name)
        if node is None or node.op_type not in ("Constant", *FOLLOWED):
            return None
        if node.op_type == "Constant":
            return numpy_helper.to_array(node.attribute[0].t)
        given = [self.value(taken) for taken in node.input]
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        return None if any(value is None for value in given) else FOLLOWED[node.op_type](*given, **attributes)

    def replace(self, node: onnx.NodeProto, by: onnx.NodeProto) -> None:
        """Puts a node in the place of another that made the same output."""
        self._replaced[node.output[0]] = by

    def write(self) -> None:
        """Writes the nodes back, with the replaced ones, and without nodes and weights that nothing needs any more."""
        write_needed(self.graph, [self._replaced.get(node.output[0], node) for node in self.nodes])


def write_needed(graph: onnx.GraphProto, nodes: List[onnx.NodeProto]) -> None:
    """Gives a graph these nodes, without those and without the weights on which no output of it depends."""
    wanted, kept = {value.name for value in graph.output}, []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            kept.append(node.SerializeToString())
            wanted.update(node.input)
    weights = [tensor.SerializeToString() for tensor in graph.initializer if tensor.name in wanted]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(onnx.NodeProto.FromString(node) for node in reversed(kept))
    graph.initializer.extend(onnx.TensorProto.FromString(tensor) for tensor in weights)
