import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import torch

from pack_export.fold_shapes import fold_shapes
from pack_export.onnx_graph import export_graph
from pack_export.tensor_spec import TensorSpec

CHANNELS, HEADS = 6, 2


class Net(torch.nn.Module):
    """Its views depend on the number of frames in one place, its table of positions in another."""

    def __init__(self):
        super().__init__()
        self.conv, self.positions = torch.nn.Conv2d(3, CHANNELS, 1), torch.nn.Parameter(torch.rand(8, 4, CHANNELS))

    def forward(self, x):
        _, channels, frames, height, width = x.shape
        folded = self.conv(x.transpose(1, 2).reshape(frames, channels, height, width))
        tokens = folded.flatten(2).transpose(1, 2).reshape(frames, height * width, CHANNELS) + self.positions[:frames]
        apart = tokens.view(frames, -1, HEADS, CHANNELS // HEADS) * (CHANNELS // HEADS) ** -0.5
        return apart.reshape(1, frames, height * width * CHANNELS)


@unittest.skipIf(not hasattr(onnx.shape_inference, "infer_node_outputs"), "this onnx is too old")
class FoldShapesTest(unittest.TestCase):
    """What a folded graph computes stays the same, at every size of its free dimensions; it computes no shape of a view."""

    @unittest.skipIf(find_spec("onnxruntime") is None, "onnxruntime is not installed")
    def test_views_have_constant_shapes_and_the_same_contents_at_every_size(self):
        import onnxruntime

        net = Net().eval()
        inputs = [TensorSpec("x", [1, 3, "frames", 2, 2])]
        outputs = [TensorSpec("y", [1, "frames", 4 * CHANNELS])]
        with tempfile.TemporaryDirectory() as folder:
            model = export_graph(net, [torch.zeros(1, 3, 3, 2, 2)], inputs, outputs, Path(folder)).model
        names = {tensor.name for tensor in model.graph.initializer}
        reshaped = [node.input[1] for node in model.graph.node if node.op_type == "Reshape"]
        self.assertGreater(len(reshaped), 3)
        self.assertLessEqual(set(reshaped), names)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for frames in (1, 3, 8):
            x = torch.rand(1, 3, frames, 2, 2)
            (y,) = session.run(None, {"x": x.numpy()})
            np.testing.assert_allclose(y, net(x).detach().numpy(), atol=1e-6)

    def test_a_shape_with_two_free_sizes_stays_computed(self):
        helper = onnx.helper
        nodes = [
            helper.make_node("Shape", ["x"], ["size"]),
            helper.make_node("Concat", ["size", "size"], ["twice"], axis=0),
            helper.make_node("Expand", ["x", "twice"], ["wide"]),
            helper.make_node("Reshape", ["wide", "twice"], ["y"]),
        ]
        kind = onnx.TensorProto.FLOAT
        values = [helper.make_tensor_value_info("x", kind, ["n"]), helper.make_tensor_value_info("y", kind, ["n", "n"])]
        model = helper.make_model(
            helper.make_graph(nodes, "net", values[:1], values[1:]), opset_imports=[helper.make_opsetid("", 17)]
        )
        before = [node.op_type for node in model.graph.node]
        fold_shapes(model, ["n"])
        self.assertEqual([node.op_type for node in model.graph.node], before)


if __name__ == "__main__":
    unittest.main()
