import tempfile
import unittest

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper

from pack_export.half_precision import to_half
from pack_export.onnx_graph import export_graph
from pack_export.tensor_spec import TensorSpec


class Net(torch.nn.Module):
    """A weight, a sum over elements, and a timestep embedding."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = torch.nn.Linear(16, 16), torch.nn.LayerNorm(16)
        self.register_buffer("frequencies", torch.linspace(0.1, 1, 16))

    def forward(self, x, time):
        angles = time.float()[:, None] * self.frequencies
        return self.norm(self.linear(x)) + angles.sin()


class HalfPrecisionTest(unittest.TestCase):
    def setUp(self):
        specs = [TensorSpec("x", [2, 16]), TensorSpec("time", [1], dtype="int64")]
        feeds = [torch.zeros(2, 16), torch.zeros(1, dtype=torch.int64)]
        with tempfile.TemporaryDirectory() as folder:
            self.model = export_graph(Net().eval(), feeds, specs, [TensorSpec("y", [2, 16])], folder).model
            to_half(self.model, folder)
        self.nodes = list(self.model.graph.node)

    def maker(self, name: str) -> onnx.NodeProto:
        return next(node for node in self.nodes if name in node.output)

    def test_the_model_is_well_formed_and_its_boundary_single_precision(self):
        onnx.checker.check_model(self.model, full_check=True)
        types = [value.type.tensor_type.elem_type for value in [*self.model.graph.input, *self.model.graph.output]]
        self.assertEqual(types, [TensorProto.FLOAT, TensorProto.INT64, TensorProto.FLOAT])

    def test_weights_are_halved(self):
        weights = {tensor.name: tensor for tensor in self.model.graph.initializer if list(tensor.dims) == [16, 16]}
        self.assertEqual([tensor.data_type for tensor in weights.values()], [TensorProto.FLOAT16])

    def test_sums_over_many_elements_stay_single(self):
        norm = next(node for node in self.nodes if node.op_type == "LayerNormalization")
        self.assertTrue(all(self.maker(name).op_type == "Cast" for name in norm.input))

    def test_the_angles_of_a_time_are_never_rounded_to_half(self):
        sine = next(node for node in self.nodes if node.op_type == "Sin")
        product = self.maker(sine.input[0])
        self.assertEqual(product.op_type, "Mul")
        frequencies = {tensor.name: tensor for tensor in self.model.graph.initializer}[product.input[1]]
        self.assertEqual(frequencies.data_type, TensorProto.FLOAT)
        self.assertEqual(np.frombuffer(frequencies.raw_data, np.float32)[1], np.float32(0.16))

    def test_operators_that_onnx_does_not_know_are_halved_with_the_rest(self):
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4])
        nodes = [
            helper.make_node("Attention", ["x"], ["a"], domain="com.microsoft"),
            helper.make_node("Softmax", ["a"], ["b"]),
            helper.make_node("Add", ["b", "a"], ["y"]),
        ]
        graph = helper.make_graph(nodes, "fused", [value("x")], [value("y")])
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=imports)
        to_half(model, "")
        operators = ["Cast", "Attention", "Cast", "Softmax", "Cast", "Add", "Cast"]
        self.assertEqual([node.op_type for node in model.graph.node], operators)


if __name__ == "__main__":
    unittest.main()
