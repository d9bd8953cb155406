"""Turns PyTorch networks into model packs: ONNX files and the pack.json that binds them to an engine."""

import os

# Before ONNX Runtime is imported anywhere: it reports to its maker otherwise.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
