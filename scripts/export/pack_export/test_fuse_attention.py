import tempfile
import unittest
from importlib.util import find_spec

import torch

from pack_export.fuse_attention import PLAIN, fused_attention
from pack_export.onnx_graph import export_graph
from pack_export.tensor_spec import TensorSpec

HEADS, WIDTH = 2, 4
SPECS = [TensorSpec("x", ["batch", "tokens", HEADS * WIDTH]), TensorSpec("seen", ["batch", "others", HEADS * WIDTH])]


class Net(torch.nn.Module):
    """Cross-attention as diffusers writes it."""

    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, x, seen):
        apart = [tensor.view(tensor.shape[0], -1, HEADS, WIDTH).transpose(1, 2) for tensor in (x, seen, seen)]
        answer = torch.nn.functional.scaled_dot_product_attention(*apart, **self.options)
        return answer.transpose(1, 2).reshape(x.shape[0], -1, HEADS * WIDTH)


@unittest.skipIf(PLAIN is None, "this torch has no attention of its own")
class FuseAttentionTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.feeds = [torch.randn(2, 5, HEADS * WIDTH), torch.randn(2, 3, HEADS * WIDTH)]

    def exported(self):
        outputs = [TensorSpec("y", ["batch", "tokens", HEADS * WIDTH])]
        with fused_attention(), tempfile.TemporaryDirectory() as folder:
            return export_graph(Net(), self.feeds, SPECS, outputs, folder).model

    def test_attention_is_one_operator(self):
        operators = [node.op_type for node in self.exported().graph.node]
        self.assertEqual(operators.count("MultiHeadAttention"), 1)
        self.assertNotIn("Softmax", operators)

    def test_torch_attends_as_before_afterwards(self):
        self.exported()
        self.assertIs(torch.nn.functional.scaled_dot_product_attention, PLAIN)

    def test_attention_that_the_operator_would_not_compute_is_refused(self):
        with fused_attention(), self.assertRaises(NotImplementedError):
            Net(is_causal=True)(self.feeds[0], self.feeds[0])

    @unittest.skipIf(find_spec("onnxruntime") is None, "onnxruntime is not installed")
    def test_onnx_runtime_computes_what_torch_computes_for_other_sizes_too(self):
        import onnxruntime

        session = onnxruntime.InferenceSession(self.exported().SerializeToString(), providers=["CPUExecutionProvider"])
        feeds = [torch.randn(3, 7, HEADS * WIDTH), torch.randn(3, 2, HEADS * WIDTH)]
        (answer,) = session.run(None, {spec.key: feed.numpy() for spec, feed in zip(SPECS, feeds)})
        self.assertLess(float((torch.from_numpy(answer) - Net()(*feeds)).abs().max()), 1e-5)


if __name__ == "__main__":
    unittest.main()
