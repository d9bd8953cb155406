import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from pack_export.graph_check import problems_of

ENTRY = {
    "inputs": {"x": {"name": "x", "dtype": "float32"}},
    "outputs": {"y": {"name": "y", "dtype": "float32"}},
}


def node(operator: str, inputs: str, outputs: str, **attributes) -> onnx.NodeProto:
    return helper.make_node(operator, inputs.split(), outputs.split(), **attributes)


FUSED = node("MultiHeadAttention", "x x x", "a", domain="com.microsoft", num_heads=2)


class GraphCheckTest(unittest.TestCase):
    def problems(self, nodes: list, half: bool = False, kind: int = TensorProto.FLOAT, **weights: np.ndarray) -> list:
        value = lambda name, kind: helper.make_tensor_value_info(name, kind, [1, 4, 8])
        tensors = [numpy_helper.from_array(array, name.replace("__", ".")) for name, array in weights.items()]
        graph = helper.make_graph(nodes, "test", [value("x", kind)], [value("y", TensorProto.FLOAT)], tensors)
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "test.onnx"
            onnx.save_model(helper.make_model(graph, opset_imports=imports), str(path))
            return problems_of(path, ENTRY, half)

    def test_a_fused_graph_has_no_problem(self):
        bias = np.ones(8, np.float32)
        self.assertEqual(self.problems([FUSED, node("Add", "a .to_out.0.bias", "y")], **{"__to_out__0__bias": bias}), [])

    def test_attention_in_single_steps_is_one(self):
        nodes = [node("Softmax", "x", "a"), node("Add", "a .to_out.0.bias", "y")]
        found = self.problems(nodes, **{"__to_out__0__bias": np.ones(8, np.float32)})
        self.assertEqual(found, ["0 of 1 attention blocks are fused", "there is a Softmax beside fused attention"])

    def test_a_norm_in_single_steps_is_one(self):
        nodes = [node("ReduceMean", "x", "m"), node("Sub", "x m", "c"), node("Pow", "c two", "y")]
        self.assertEqual(self.problems(nodes, two=np.float32([2])), ["1 norms are single steps, first y"])

    def test_a_weight_that_is_not_halved_is_one(self):
        nodes = [node("Add", "x w", "y")]
        self.assertEqual(self.problems(nodes, True, w=np.ones(8, np.float32)), ["1 weights are single precision, first w"])

    def test_the_frequencies_of_a_time_stay_single(self):
        nodes = [node("Mul", "x w", "a"), node("Sin", "a", "y")]
        self.assertEqual(self.problems(nodes, True, w=np.ones(8, np.float32)), [])

    def test_another_type_than_the_manifests_is_one(self):
        (problem,) = self.problems([node("Cast", "x", "y", to=TensorProto.FLOAT)], kind=TensorProto.FLOAT16)
        self.assertIn("its inputs are {'x': 'another type'}", problem)

    def test_a_graph_that_onnx_refuses_is_one(self):
        (problem,) = self.problems([node("Add", "x nowhere", "y")])
        self.assertIn("the checker of ONNX refuses it", problem)


if __name__ == "__main__":
    unittest.main()
