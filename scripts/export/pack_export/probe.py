"""
Probes: a run of the torch network that the service repeats to check that the graph computes the same. Where Python's
ONNX Runtime is installed, the exporter compares the two at once.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Sequence, Union

import numpy as np
import torch

from .tensor_spec import TensorSpec

#: Number of leading elements of every output that are recorded as they are.
FIRST = 8
#: Largest deviation as a share of the outputs' root mean square.
TOLERANCE = {"float32": 2e-3, "float16": 2e-2}


@dataclass(frozen=True)
class ProbeInput:
    """
    Sizes of the free dimensions, and the contents of the inputs: a number, or 'wave' for sin(i) over the elements.
    """

    dims: Dict[str, int] = field(default_factory=dict)
    fill: Dict[str, Union[float, str]] = field(default_factory=dict)


def wave(shape: Sequence[int]) -> np.ndarray:
    """sin(i), where i is the index in the flattened tensor."""
    return np.sin(np.arange(np.prod(shape), dtype=np.float64)).astype(np.float32).reshape(shape)


def feed(spec: TensorSpec, probe: ProbeInput, device: str = "cpu") -> torch.Tensor:
    shape = spec.shape(probe.dims)
    fill = probe.fill.get(spec.key, 0)
    if spec.dtype == "int64":
        return torch.full(shape, int(fill), dtype=torch.int64, device=device)
    values = wave(shape) if fill == "wave" else np.full(shape, fill, dtype=np.float32)
    return torch.from_numpy(values).to(device)


def record(probe: ProbeInput, outputs: Dict[str, torch.Tensor], precision: str) -> dict:
    """The manifest's probe: torch's outputs for the inputs."""
    arrays = {key: tensor.detach().double().cpu().numpy().ravel() for key, tensor in outputs.items()}
    for key, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"the network answers the probe with {key} that is not finite")
    rms = {key: float(np.sqrt(np.mean(array**2))) for key, array in arrays.items()}
    return {
        "dims": dict(probe.dims),
        "fill": dict(probe.fill),
        "means": {key: _rounded(array.mean()) for key, array in arrays.items()},
        "rms": {key: _rounded(value) for key, value in rms.items()},
        # Not of classes: where two are nearly as likely, another device may find the other one.
        "first": {
            key: [_rounded(value) for value in array[:FIRST]]
            for key, array in arrays.items()
            if outputs[key].is_floating_point()
        },
        "tolerance": max(1e-6, _rounded(TOLERANCE[precision] * max(rms.values()))),
    }


def _rounded(value: float) -> float:
    return float(f"{float(value):.7g}")


def print_parity(path: Path, feeds: dict, outputs: dict, provider: str) -> None:
    """Prints the largest deviation of every output from torch's, also as a share of its root mean square."""
    try:
        import onnxruntime
    except ImportError:
        print("  onnxruntime is not installed: run `npm run models -- verify` on the pack instead")
        return
    providers = [{"cuda": "CUDAExecutionProvider", "webgpu": "WebGpuExecutionProvider"}.get(provider, "CPUExecutionProvider")]
    if providers[0] not in onnxruntime.get_available_providers():
        print(f"  {providers[0]} is not here: run `npm run models -- verify` where the pack will be used")
        return
    options = onnxruntime.SessionOptions()
    # Speed does not matter for one run; copies of all weights in the order that is fastest to multiply would.
    options.add_session_config_entry("session.disable_prepacking", "1")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.enable_cpu_mem_arena = False
    session = onnxruntime.InferenceSession(str(path), options, providers=providers)
    names = list(outputs)
    results = session.run(names, {name: tensor.cpu().numpy() for name, tensor in feeds.items()})
    for name, result in zip(names, results):
        wanted = outputs[name].detach().cpu().numpy()
        if not outputs[name].is_floating_point():
            print(f"  {name}: {np.mean(result != wanted):.3g} of the elements differ")
            continue
        deviation = float(np.abs(result - wanted).max())
        print(f"  {name}: largest deviation {deviation:.3g}, {deviation / np.sqrt(np.mean(wanted**2)):.3g} of its RMS")
