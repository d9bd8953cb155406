"""Converts PyTorch networks to model packs: ONNX files and the pack.json that binds them to an engine."""

import os

# Set before ONNX Runtime is imported anywhere; it sends telemetry otherwise.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
