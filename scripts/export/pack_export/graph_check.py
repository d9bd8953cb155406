"""What a written graph should be, whatever its weights: well formed, fused where operators exist, and halved."""

import math
from pathlib import Path
from typing import Iterable, List

import onnx
from onnx import TensorProto

from .graph_weights import weight_bytes

#: An attention block ends with this tensor in diffusers and in the upstream repositories, and keeps its name in a graph.
ATTENTION_ENDS = ".to_out.0.bias"
FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16)
ELEMENT_TYPES = {TensorProto.FLOAT: "float32", TensorProto.INT64: "int64", TensorProto.UINT8: "uint8"}


def facts_of(path: Path) -> dict:
    """Counts of a graph's weights and operators."""
    graph = onnx.load(str(path), load_external_data=False).graph
    operators = [node.op_type for node in graph.node]
    return {
        "weights": sum(math.prod(tensor.dims) for tensor in graph.initializer if tensor.data_type in FLOATS),
        "weight_bytes": sum(map(weight_bytes, graph.initializer)),
        "nodes": len(operators),
        # A graph of several steps runs the same weights more than once.
        "attention_blocks": sum(name.endswith(ATTENTION_ENDS) for node in graph.node for name in node.input),
        "fused_attention": operators.count("MultiHeadAttention"),
        "layer_norms": operators.count("LayerNormalization"),
        "group_norms": operators.count("InstanceNormalization") + operators.count("GroupNorm"),
        "casts": operators.count("Cast"),
        "transposes": operators.count("Transpose"),
    }


def problems_of(path: Path, entry: dict, half: bool) -> List[str]:
    """
    What is wrong with the graph of a pack, whose manifest has `entry` for it. Attention must be one operator of ONNX
    Runtime (MultiHeadAttention), and a LayerNorm one of opset 17. A GroupNorm has no operator of its own in opset 17; it
    must be InstanceNormalization with a factor and a term, which the runtime knows, or the CUDA provider's own, instead of
    means and squares.
    """
    problems = []
    try:
        onnx.checker.check_model(str(path))
    except onnx.checker.ValidationError as error:
        problems.append(f"the checker of ONNX refuses it: {error}")
    graph = onnx.load(str(path), load_external_data=False).graph
    for side, values in (("inputs", graph.input), ("outputs", graph.output)):
        stated = {spec["name"]: spec["dtype"] for spec in entry[side].values()}
        found = {value.name: ELEMENT_TYPES.get(value.type.tensor_type.elem_type, "another type") for value in values}
        problems += [] if stated == found else [f"its {side} are {found}, and {stated} in the manifest"]
    facts = facts_of(path)
    if facts["fused_attention"] != facts["attention_blocks"]:
        problems.append("{fused_attention} of {attention_blocks} attention blocks are fused".format(**facts))
    if facts["attention_blocks"] and any(node.op_type == "Softmax" for node in graph.node):
        problems.append("there is a Softmax beside fused attention")
    norms = decomposed_norms(graph)
    problems += [f"{len(norms)} norms are single steps, first {norms[0]}"] if norms else []
    single = single_weights(graph) if half else []
    problems += [f"{len(single)} weights are single precision, first {single[0]}"] if single else []
    return problems


def decomposed_norms(graph: onnx.GraphProto) -> List[str]:
    """Differences from a mean that are squared: norms that the exporter took apart."""
    means = {name for node in graph.node if node.op_type == "ReduceMean" for name in node.output}
    centered = {name for node in graph.node if node.op_type == "Sub" and means & set(node.input) for name in node.output}
    squares = (node for node in graph.node if node.op_type in ("Pow", "Mul") and centered & set(node.input))
    return [node.name or node.output[0] for node in squares]


def single_weights(graph: onnx.GraphProto) -> List[str]:
    """
    Single-precision weights other than the frequencies of a diffusion time, whose angles half precision would turn, and the
    weights of GroupNorm and the scales of Resize, which take no others.
    """
    users = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    return [
        tensor.name
        for tensor in graph.initializer
        if tensor.data_type == TensorProto.FLOAT
        and not _reaches(tensor.name, ("Sin", "Cos"), users)
        and any(node.op_type not in ("GroupNorm", "Resize") for node in users.get(tensor.name, []))
    ]


def _reaches(name: str, operators: Iterable[str], users: dict) -> bool:
    waiting, seen = [name], set()
    while waiting:
        for node in users.get(waiting.pop(), []):
            if node.op_type in operators:
                return True
            # What is rounded to half precision does not reach further in single.
            if node.op_type != "Cast" and not seen.issuperset(node.output):
                seen.update(node.output)
                waiting.extend(node.output)
    return False

