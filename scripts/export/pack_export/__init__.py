"""Turns PyTorch networks into model packs: ONNX files and the pack.json that binds them to an engine."""
