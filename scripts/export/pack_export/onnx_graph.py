"""Converts a torch module to an ONNX model."""

import inspect
import tempfile
from pathlib import Path
from typing import Sequence

import onnx
import torch
from onnx import numpy_helper

from .tensor_spec import TensorSpec

OPSET = 17


def export_graph(
    module: torch.nn.Module, feeds: Sequence[torch.Tensor], inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]
) -> onnx.ModelProto:
    """Traces the module over `feeds`; the weights are in the model, whatever their size."""
    free = {spec.graph_name: spec.free_dims for spec in [*inputs, *outputs] if spec.free_dims}
    options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path = Path(folder) / "model.onnx"
        torch.onnx.export(
            module,
            tuple(feeds),
            str(path),
            opset_version=OPSET,
            # Folding in the exporter holds all weights twice and overflows one protobuf; see fold_transposes.
            do_constant_folding=False,
            input_names=[spec.graph_name for spec in inputs],
            output_names=[spec.graph_name for spec in outputs],
            dynamic_axes=free,
            **options,
        )
        model = onnx.load(str(path))
    fold_transposes(model)
    for node in model.graph.node:
        node.ClearField("doc_string")
    return model


def fold_transposes(model: onnx.ModelProto) -> None:
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
        turned = numpy_helper.to_array(weight).transpose(order)
        weight.CopyFrom(numpy_helper.from_array(turned.copy(), node.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(onnx.NodeProto.FromString(node) for node in kept)
