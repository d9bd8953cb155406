"""
Operators that the CUDA provider of ONNX Runtime has for half precision in the place of several of a traced graph. They sum
in single precision inside, so that nothing is cast around them.
"""

from pathlib import Path
from typing import Optional

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .graph_nodes import GraphNodes

#: Widths of half a gated layer for which the provider has a kernel (contrib_ops/cuda/diffusion/bias_split_gelu_impl.cu).
GATED_WIDTHS = {1280, 2560, 3072, 5120, 6144}


def use_cuda_operators(model: onnx.ModelProto, folder: Path) -> None:
    """
    Rewrites a half-precision model in `folder` in place: a group norm and the SiLU behind it become one GroupNorm, whose
    input must still get its layout; layer norms and enlargements work on halves; a gated GELU becomes one BiasSplitGelu.
    """
    nodes = GraphNodes(model, folder)
    for node in nodes.nodes:
        if node.op_type == "InstanceNormalization":
            _fuse_group_norm(nodes, node)
        elif node.op_type == "LayerNormalization" or (node.op_type == "Resize" and _attribute(node, "mode") == b"nearest"):
            _keep_half(nodes, node)
        elif node.op_type == "Erf":
            _fuse_gate(nodes, node)
    nodes.write()
    if not any(opset.domain == "com.microsoft" for opset in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))


def _fuse_group_norm(nodes: GraphNodes, norm: onnx.NodeProto) -> None:
    """Reshape to groups, InstanceNormalization, Reshape back, Mul, Add, and perhaps Sigmoid and Mul."""
    groups, zeros = (nodes.value(name) for name in norm.input[1:3])
    split = nodes.maker(_narrow(nodes, norm.input[0]), "Reshape")
    joined = nodes.only_user(nodes.only_user(norm, "Cast") or norm, "Reshape")
    scaled = joined and nodes.only_user(joined, "Mul")
    shifted = scaled and nodes.only_user(scaled, "Add")
    if split is None or shifted is None or groups is None or np.any(groups != 1) or np.any(zeros):
        return
    gamma, beta = (_other(nodes, node, made) for node, made in ((scaled, joined), (shifted, scaled)))
    if gamma is None or beta is None:
        return
    weights = []
    for kind, value in (("gamma", gamma), ("beta", beta)):
        weights.append(f"{norm.output[0]}_{kind}")
        nodes.graph.initializer.append(numpy_helper.from_array(value.astype(np.float32).ravel(), weights[-1]))
    gated = _silu(nodes, shifted)
    last = gated or shifted
    options = {"epsilon": _attribute(norm, "epsilon"), "groups": len(groups), "activation": int(gated is not None)}
    nodes.replace(last, _contrib("GroupNorm", [split.input[0], *weights], last.output[0], channels_last=1, **options))


def _silu(nodes: GraphNodes, node: onnx.NodeProto) -> Optional[onnx.NodeProto]:
    """The Mul of x · sigmoid(x), if nothing else takes x."""
    users = nodes.users.get(node.output[0], [])
    if sorted(user.op_type for user in users) != ["Mul", "Sigmoid"]:
        return None
    sigmoid, product = sorted(users, key=lambda user: user.op_type, reverse=True)
    return product if set(product.input) == {node.output[0], sigmoid.output[0]} else None


def _keep_half(nodes: GraphNodes, node: onnx.NodeProto) -> None:
    """An operator between a cast to single precision and one back, without them."""
    back = nodes.only_user(node, "Cast")
    taken = node.input if node.op_type == "LayerNormalization" else node.input[:1]
    given = [_narrow(nodes, name) for name in taken]
    if back is None or any(name == wide for name, wide in zip(given, taken)):
        return
    half = onnx.NodeProto.FromString(node.SerializeToString())
    half.input[: len(given)] = given
    half.output[0] = back.output[0]
    nodes.replace(back, half)


def _fuse_gate(nodes: GraphNodes, erf: onnx.NodeProto) -> None:
    """x · gate · (erf(gate / √2) + 1) / 2 of a layer that makes both in one product, whose bias is still to be added."""
    scaled = nodes.maker(erf.input[0], "Div")
    gate = scaled and nodes.maker(scaled.input[0], "Slice")
    shifted = nodes.only_user(erf, "Add")
    weighed = shifted and nodes.only_user(shifted, "Mul")
    halved = weighed and nodes.only_user(weighed, "Mul")
    last = halved and nodes.only_user(halved, "Mul")
    biased = gate and nodes.maker(gate.input[0], "Add")
    if last is None or biased is None or gate.output[0] not in weighed.input:
        return
    factors = [_other(nodes, node, taken) for node, taken in ((scaled, gate), (shifted, erf), (halved, weighed))]
    if any(factor is None or not np.allclose(factor, one, rtol=1e-3) for factor, one in zip(factors, (2**0.5, 1, 0.5))):
        return
    value = next((node for node in nodes.users[biased.output[0]] if node.output[0] in last.input), None)
    bias = next((name for name in biased.input if name in nodes.weights), None)
    if value is None or bias is None or len(nodes.users[biased.output[0]]) != 2:
        return
    width = nodes.weights[bias].dims[-1] // 2
    cuts = [[nodes.value(name) for name in node.input[1:4]] for node in (value, gate)]
    if width not in GATED_WIDTHS or any(number is None for cut in cuts for number in cut):
        return
    (start, end, axis), (gate_start, gate_end, gate_axis) = ([int(number.item()) for number in cut] for cut in cuts)
    if (start, end, gate_start) == (0, width, width) and gate_end >= 2 * width and {axis, gate_axis} <= {-1, 2}:
        product = next(name for name in biased.input if name != bias)
        nodes.replace(last, _contrib("BiasSplitGelu", [product, bias], last.output[0]))


def _narrow(nodes: GraphNodes, name: str) -> str:
    """The tensor that was cast to single precision, or the tensor itself."""
    cast = nodes.maker(name, "Cast")
    return cast.input[0] if cast is not None and _attribute(cast, "to") == TensorProto.FLOAT else name


def _other(nodes: GraphNodes, node: onnx.NodeProto, taken: onnx.NodeProto) -> Optional[np.ndarray]:
    """The constant that a node takes beside another node's output."""
    (name,) = [name for name in node.input if name != taken.output[0]] or [""]
    return nodes.value(name)


def _contrib(operator: str, inputs: list, output: str, **attributes) -> onnx.NodeProto:
    return helper.make_node(operator, inputs, [output], name=output, domain="com.microsoft", **attributes)


def _attribute(node: onnx.NodeProto, name: str):
    return next((helper.get_attribute_value(found) for found in node.attribute if found.name == name), None)
