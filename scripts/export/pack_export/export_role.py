"""Exports one network of a pack, from torch to its entry in pack.json."""

import hashlib
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

import torch

from .channels_last import to_channels_last
from .data_file import DataFile
from .fuse_attention import fused_attention
from .graph_weights import weight_bytes
from .half_precision import to_half
from .onnx_graph import TracedGraph, export_graph
from .probe import ProbeInput, feed, print_parity, record
from .tensor_spec import TensorSpec

#: Larger weights are stored in a separate file.
DATA_FILE_FROM = 64 * 2**20


@dataclass(frozen=True)
class Role:
    """A network: a module that takes the inputs in order, in single precision, and returns the outputs in order."""

    name: str
    module: torch.nn.Module
    inputs: Sequence[TensorSpec]
    outputs: Sequence[TensorSpec]
    probe: ProbeInput
    #: Roles of the same group store their weights in one file, each tensor once.
    data_group: Optional[str] = None
    #: Whether fusing attention is worthwhile.
    attention: bool = False
    #: Whether channels may be last, where the options ask for it.
    channels_last: bool = True
    #: The part of the module that computes in single precision whatever the options ask for.
    single: Optional[str] = None


@dataclass(frozen=True)
class ExportOptions:
    """
    `precision` is float32 or float16; `provider` is where the pack will run; `device` is where torch runs now; `fuse`
    says whether attention becomes single operators of ONNX Runtime; `layout` says where tensors of pictures have their
    channels: channels-first, or channels-last, which needs float16 and cuda.
    """

    precision: str = "float32"
    provider: str = "cpu"
    device: str = "cpu"
    fuse: bool = False
    layout: str = "channels-first"
    data_file_from: int = DATA_FILE_FROM


class RoleExporter:
    """Writes the graphs of one pack into a folder."""

    def __init__(self, folder: Path, options: ExportOptions):
        self._folder = folder
        self._options = options
        self._data_files = {}

    def export(self, role: Role) -> dict:
        """Writes the role's files; returns its entry without the digests, which wait until every file is complete."""
        print(role.name)
        device = self._options.device
        module = role.module.to(device).eval()
        feeds = [feed(spec, role.probe, device) for spec in role.inputs]
        path = self._folder / f"{role.name.replace('_', '-')}.onnx"
        fuse = role.attention and self._options.fuse
        with tempfile.TemporaryDirectory() as folder:
            with fused_attention() if fuse else nullcontext():
                graph = export_graph(module, feeds, role.inputs, role.outputs, Path(folder))
            if fuse:
                fused = sum(node.op_type == "MultiHeadAttention" for node in graph.model.graph.node)
                print(f"  {fused} attention blocks fused")
            if self._options.precision == "float16":
                to_half(graph.model, graph.folder, role.single)
            if role.channels_last and self._options.layout == "channels-last":
                to_channels_last(graph.model, graph.folder)
            data = self._write(graph, path, role.data_group or role.name)
        answers = {spec.key: tensor for spec, tensor in zip(role.outputs, graph.answers)}
        print_parity(
            path,
            {spec.graph_name: tensor for spec, tensor in zip(role.inputs, feeds)},
            {spec.graph_name: answers[spec.key] for spec in role.outputs},
            self._options.provider,
        )
        return {
            "file": path.name,
            **({"externalData": [{"file": data.name}]} if data else {}),
            "inputs": {spec.key: spec.to_manifest() for spec in role.inputs},
            "outputs": {spec.key: spec.to_manifest() for spec in role.outputs},
            "probe": record(role.probe, answers, self._options.precision),
        }

    def _write(self, graph: TracedGraph, path: Path, group: str) -> Optional[Path]:
        """Writes the model; returns the data file with its weights, if there is one."""
        data_file = self._data_files.get(group)
        weights = graph.model.graph.initializer
        if data_file is None and sum(map(weight_bytes, weights)) > self._options.data_file_from:
            data_file = DataFile(self._folder / f"{group.replace('_', '-')}.onnx.data")
            self._data_files[group] = data_file
        if data_file is not None:
            data_file.take_weights(graph.model, graph.folder)
        path.write_bytes(graph.model.SerializeToString())
        return data_file.path if data_file else None


def add_digests(folder: Path, entry: dict) -> dict:
    """The entry with the SHA-256 of every file that it names."""
    data = [{**file, "sha256": sha256_of(folder / file["file"])} for file in entry.get("externalData", [])]
    named = {"file": entry["file"], "sha256": sha256_of(folder / entry["file"])}
    return {**named, **({"externalData": data} if data else {}), **{k: v for k, v in entry.items() if k not in ("file", "externalData")}}


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(2**20), b""):
            digest.update(block)
    return digest.hexdigest()
