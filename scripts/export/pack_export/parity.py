"""Compares a written graph with the torch network, if Python's ONNX Runtime is installed."""

from pathlib import Path

import numpy as np


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
    session = onnxruntime.InferenceSession(str(path), providers=providers)
    names = list(outputs)
    results = session.run(names, {name: tensor.cpu().numpy() for name, tensor in feeds.items()})
    for name, result in zip(names, results):
        wanted = outputs[name].detach().float().cpu().numpy()
        deviation = float(np.abs(result - wanted).max())
        print(f"  {name}: largest deviation {deviation:.3g}, {deviation / np.sqrt(np.mean(wanted**2)):.3g} of its RMS")
