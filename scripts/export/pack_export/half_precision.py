"""Half precision inside a graph, single precision at its boundary."""

import re
from pathlib import Path
from typing import Optional

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx import external_data_helper as external

from .graph_nodes import write_needed
from .graph_weights import array_of, replace

#: Sums over many elements and their inputs stay in single precision, as in torch's autocast.
SINGLE = {
    "InstanceNormalization", "LayerNormalization", "ReduceMean", "ReduceSum", "Pow", "Sqrt", "Exp", "Sin", "Cos", "Softmax",
    "Range", "Resize", "Log", "Reciprocal", "ArgMax",
}
LARGEST = float(np.finfo(np.float16).max)


def to_half(model: onnx.ModelProto, folder: Path, exact_part: Optional[str] = None) -> None:
    """
    Rewrites a model in `folder` in place: float weights and what is computed from them become float16. The part of the
    traced module with this name goes on computing in float32, also with the graph's inputs.
    """
    graph = model.graph
    types = _element_types(model)
    # Kept as a list, because a repeated field creates new objects on every access.
    originals = list(graph.node)
    angles = _before(originals, {"Sin", "Cos"})
    whole = {name for i in angles for name in originals[i].input}
    kept = [tensor.name for tensor in graph.initializer if tensor.name in whole]
    for tensor in graph.initializer:
        if tensor.name not in whole:
            _halve(tensor, folder)
    exact = set() if exact_part is None else _nodes_of(exact_part, originals)
    single = angles | exact | {i for i, node in enumerate(originals) if node.op_type in SINGLE}
    nodes, boundary = [], {}
    for value in graph.input:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            boundary[value.name] = f"{value.name}_half"
            nodes.append(_cast(value.name, boundary[value.name], TensorProto.FLOAT16))
    casts = _Casts(types, {**{name: name for name in kept}, **{half: name for name, half in boundary.items()}})
    results = {value.name for value in graph.output if value.type.tensor_type.elem_type == TensorProto.FLOAT}
    for at, node in enumerate(originals):
        for i, name in enumerate(node.input):
            node.input[i] = boundary.get(name, name)
        for i, name in enumerate(node.output):
            if name in results:
                boundary[name] = f"{name}_half"
                types[boundary[name]] = TensorProto.FLOAT
                node.output[i] = boundary[name]
        if at in single:
            nodes.extend(casts.around(node))
        else:
            _halve_attributes(node)
            nodes.append(node)
    nodes.extend(casts.widened(boundary[name], name) for name in results)
    write_needed(graph, nodes)
    del graph.value_info[:]


class _Casts:
    """Inserts casts around nodes that stay in single precision; a value is widened only once."""

    def __init__(self, types, wide):
        self._types = types
        #: Single-precision values by the names of the halves.
        self._wide = wide

    def around(self, node):
        before, after = [], []
        for i, name in enumerate(node.input):
            if self._types.get(name.removesuffix("_half")) == TensorProto.FLOAT:
                if name not in self._wide:
                    self._wide[name] = f"{name}_wide"
                    before.append(_cast(name, self._wide[name], TensorProto.FLOAT))
                node.input[i] = self._wide[name]
        for i, name in enumerate(node.output):
            if self._types.get(name.removesuffix("_half")) == TensorProto.FLOAT:
                self._wide[name] = f"{name}_wide"
                node.output[i] = self._wide[name]
                after.append(_cast(self._wide[name], name, TensorProto.FLOAT16))
        return [*before, node, *after]

    def widened(self, name, result):
        """Makes a result of the graph, of the single-precision value where there is one."""
        if name in self._wide:
            return helper.make_node("Identity", [self._wide[name]], [result])
        return _cast(name, result, TensorProto.FLOAT)


def _nodes_of(part: str, nodes: list) -> set:
    """Indices of the nodes of a part of the module, which torch names after it and numbers from its second call on."""
    found = {i for i, node in enumerate(nodes) if re.match(rf"/{part}(_\d+)?/", node.name)}
    if not found:
        raise ValueError(f"this torch does not name nodes after {part}: 2.0 and newer do")
    return found


def _before(nodes: list, operators: set) -> set:
    """
    Indices of these operators and of all nodes that compute their inputs. In half precision, the angles of a diffusion
    timestep near 1000 would be off by whole turns.
    """
    makers = {name: i for i, node in enumerate(nodes) for name in node.output}
    found, waiting = set(), [i for i, node in enumerate(nodes) if node.op_type in operators]
    while waiting:
        i = waiting.pop()
        if i not in found:
            found.add(i)
            waiting.extend(makers[name] for name in nodes[i].input if name in makers)
    return found


def _element_types(model: onnx.ModelProto) -> dict:
    # Neither shapes nor the weights' contents matter: a copy without them stays below protobuf's limit.
    light = onnx.ModelProto()
    light.CopyFrom(onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import))
    light.graph.name = model.graph.name
    light.graph.node.extend(model.graph.node)
    light.graph.output.extend(model.graph.output)
    light.graph.input.extend(model.graph.input)
    for tensor in model.graph.initializer:
        if external.uses_external_data(tensor) or len(tensor.raw_data) > 1024:
            light.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
        else:
            light.graph.initializer.append(tensor)
    # ONNX cannot infer the type of fused attention, whose output has the type of its inputs.
    fused = [name for node in model.graph.node if node.domain for name in node.output if name]
    light.graph.value_info.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in fused)
    inferred = onnx.shape_inference.infer_shapes(light).graph
    values = [*inferred.input, *inferred.value_info, *inferred.output]
    types = {value.name: value.type.tensor_type.elem_type for value in values}
    types.update({tensor.name: tensor.data_type for tensor in model.graph.initializer})
    unknown = [name for node in model.graph.node for name in node.output if name and types.get(name, 0) == 0]
    if unknown:
        raise ValueError(f"the type of {len(unknown)} values is unknown, first {unknown[0]}")
    return types


def _halve(tensor: onnx.TensorProto, folder: Path) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        replace(tensor, np.clip(array_of(tensor, folder), -LARGEST, LARGEST).astype(np.float16), folder)


def _halve_attributes(node: onnx.NodeProto) -> None:
    for attribute in node.attribute:
        if attribute.HasField("t"):
            _halve(attribute.t, Path())
        if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
            attribute.i = TensorProto.FLOAT16


def _cast(source: str, target: str, to: int) -> onnx.NodeProto:
    return helper.make_node("Cast", [source], [target], to=to)
