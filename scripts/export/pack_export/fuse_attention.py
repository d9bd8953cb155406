"""Fused attention: without it a graph holds frames × heads × tokens² scores, 17 GB for one tensor at 512 pixels."""

import tempfile
from pathlib import Path

import onnx

#: What else the optimizer would do to a UNet. Some of it has kernels on CUDA only; memory is a matter of attention alone.
OTHER_FUSIONS = (
    "enable_bias_add",
    "enable_bias_gelu",
    "enable_bias_skip_layer_norm",
    "enable_bias_splitgelu",
    "enable_group_norm",
    "enable_nhwc_conv",
    "enable_packed_kv",
    "enable_packed_qkv",
    "enable_skip_group_norm",
    "enable_skip_layer_norm",
)


def fuse_attention(model: onnx.ModelProto, on_gpu: bool) -> onnx.ModelProto:
    """The model with attention as single operators of ONNX Runtime; as it was where its optimizer is not installed."""
    try:
        from onnxruntime.transformers.fusion_options import FusionOptions
        from onnxruntime.transformers.optimizer import optimize_model
    except ImportError:
        print("  onnxruntime.transformers is not installed: attention stays in single steps")
        return model
    options = FusionOptions("unet")
    for rearrangement in OTHER_FUSIONS:
        setattr(options, rearrangement, False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain.onnx"
        onnx.save_model(model, str(path), save_as_external_data=True, location="plain.onnx.data")
        optimized = optimize_model(
            str(path), model_type="unet", num_heads=0, hidden_size=0, opt_level=0, optimization_options=options, use_gpu=on_gpu
        )
        fused = sum(node.op_type in ("Attention", "MultiHeadAttention") for node in optimized.model.graph.node)
        print(f"  {fused} attention blocks fused")
        return optimized.model
