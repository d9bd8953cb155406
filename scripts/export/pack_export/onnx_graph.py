"""Converts a torch module to an ONNX model."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence, Tuple

import onnx
import torch

from .fold_shapes import fold_shapes
from .graph_weights import array_of, keep_inside, replace
from .tensor_spec import TensorSpec

OPSET = 17


@dataclass(frozen=True)
class TracedGraph:
    """A model whose large weights may be files of `folder`, and what torch answered while it was traced."""

    model: onnx.ModelProto
    folder: Path
    answers: Tuple[torch.Tensor, ...]


def export_graph(
    module: torch.nn.Module,
    feeds: Sequence[torch.Tensor],
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    folder: Path,
) -> TracedGraph:
    """Traces the module over `feeds`, which runs it once, and writes its weights to the empty `folder`."""
    free = {spec.graph_name: spec.free_dims for spec in [*inputs, *outputs] if spec.free_dims}
    options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    answers = []
    hook = module.register_forward_hook(lambda _, __, answer: answers.append(answer))
    path = Path(folder) / "model.onnx"
    try:
        with torch.no_grad():
            torch.onnx.export(
                module,
                tuple(feeds),
                str(path),
                opset_version=OPSET,
                # Folding in the exporter holds all weights twice and overflows one protobuf: see fold_transposes and
                # fold_shapes.
                do_constant_folding=False,
                input_names=[spec.graph_name for spec in inputs],
                output_names=[spec.graph_name for spec in outputs],
                dynamic_axes=free,
                **options,
            )
    finally:
        hook.remove()
    model = onnx.load(str(path), load_external_data=False)
    fold_transposes(model, folder)
    for node in model.graph.node:
        node.ClearField("doc_string")
        for attribute in node.attribute:
            keep_inside(attribute.t, folder)
    fold_shapes(model, {dim for dims in free.values() for dim in dims.values()})
    (answer,) = answers
    return TracedGraph(model, folder, tuple(answer) if isinstance(answer, (tuple, list)) else (answer,))


def fold_transposes(model: onnx.ModelProto, folder: Path) -> None:
    """Transposes weights once here instead of every time the graph is loaded."""
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    uses = {}
    for node in model.graph.node:
        for name in node.input:
            uses[name] = uses.get(name, 0) + 1
    kept = []
    for node in model.graph.node:
        if node.op_type != "Transpose" or node.input[0] not in weights or uses[node.input[0]] != 1:
            kept.append(node.SerializeToString())
            continue
        weight = weights[node.input[0]]
        order = next((list(attribute.ints) for attribute in node.attribute if attribute.name == "perm"), None)
        replace(weight, array_of(weight, folder).transpose(order), folder)
        weight.name = node.output[0]
    del model.graph.node[:]
    model.graph.node.extend(onnx.NodeProto.FromString(node) for node in kept)
