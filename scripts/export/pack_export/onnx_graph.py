"""Converts a torch module to an ONNX model."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence, Tuple

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
    users = {}
    for node in model.graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    folded = {}
    for name, tensor in weights.items():
        # A graph of several steps transposes the same weight in each.
        orders = {_order(node) if node.op_type == "Transpose" else "other" for node in users.get(name, [])}
        if len(orders) == 1 and "other" not in orders:
            replace(tensor, array_of(tensor, folder).transpose(*orders), folder)
            made = [node.output[0] for node in users[name]]
            tensor.name = made[0]
            folded.update(dict.fromkeys(made, made[0]))
    kept = []
    for node in model.graph.node:
        if node.output[0] not in folded:
            node.input[:] = [folded.get(name, name) for name in node.input]
            kept.append(node.SerializeToString())
    del model.graph.node[:]
    model.graph.node.extend(onnx.NodeProto.FromString(node) for node in kept)


def _order(transpose: onnx.NodeProto) -> Optional[Tuple[int, ...]]:
    """The order in which it puts axes; without one it turns them around, which None says to numpy."""
    return next((tuple(attribute.ints) for attribute in transpose.attribute if attribute.name == "perm"), None)
