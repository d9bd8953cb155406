import tempfile
import unittest
from pathlib import Path

import onnx
import torch

from pack_export.fuse_attention import PLAIN, fused_attention
from pack_export.graph_cost import cost_of
from pack_export.onnx_graph import export_graph
from pack_export.tensor_spec import TensorSpec

CHANNELS, SIDE, HEADS = 8, 4, 2


class Net(torch.nn.Module):
    """A convolution, then attention of every cell to every cell, in views that depend on the batch."""

    def __init__(self):
        super().__init__()
        self.conv, self.linear = torch.nn.Conv2d(3, CHANNELS, 3, padding=1), torch.nn.Linear(CHANNELS, CHANNELS)

    def forward(self, x):
        cells = self.linear(self.conv(x).flatten(2).transpose(1, 2))
        apart = cells.view(x.shape[0], -1, HEADS, CHANNELS // HEADS).transpose(1, 2)
        seen = torch.nn.functional.scaled_dot_product_attention(apart, apart, apart)
        return seen.transpose(1, 2).reshape(x.shape[0], -1, CHANNELS)


@unittest.skipIf(PLAIN is None or not hasattr(onnx.shape_inference, "infer_node_outputs"), "this torch or this onnx is too old")
class GraphCostTest(unittest.TestCase):
    def setUp(self):
        inputs = [TensorSpec("x", ["batch", 3, SIDE, SIDE])]
        outputs = [TensorSpec("y", ["batch", SIDE * SIDE, CHANNELS])]
        with tempfile.TemporaryDirectory() as folder:
            with fused_attention():
                model = export_graph(Net().eval(), [torch.zeros(2, 3, SIDE, SIDE)], inputs, outputs, Path(folder)).model
            path = Path(folder) / "net.onnx"
            path.write_bytes(model.SerializeToString())
            self.costs = {batch: cost_of(path, {"batch": batch}) for batch in (1, 3)}

    def test_multiplications_are_those_of_the_layers_at_the_given_size(self):
        cells = SIDE * SIDE
        each = cells * CHANNELS * 3 * 9 + cells * CHANNELS * CHANNELS + 2 * cells * cells * CHANNELS
        self.assertEqual({batch: cost.multiply_accumulates for batch, cost in self.costs.items()}, {1: each, 3: 3 * each})

    def test_weights_do_not_depend_on_the_size(self):
        weights = 4 * (CHANNELS * 3 * 9 + CHANNELS + CHANNELS * CHANNELS + CHANNELS)
        (counted,) = {cost.weight_bytes for cost in self.costs.values()}
        # A few numbers of shapes beside them.
        self.assertTrue(weights <= counted < weights + 128, counted)

    def test_tensors_live_from_their_maker_to_their_last_user(self):
        """At most two at once, for views have no memory."""
        for batch, cost in self.costs.items():
            self.assertEqual(cost.live_bytes, batch * 2 * 4 * SIDE * SIDE * CHANNELS)


if __name__ == "__main__":
    unittest.main()
