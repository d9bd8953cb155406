import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from pack_export.checkpoint_loading import safe_loading
from pack_export.data_file import DataFile
from pack_export.graph_weights import keep_inside
from pack_export.half_precision import to_half
from pack_export.onnx_graph import export_graph, fold_transposes
from pack_export.tensor_spec import TensorSpec

SIDE = 64


class Net(torch.nn.Module):
    """A weight that stays large in half precision, one that does not, and one that is transposed."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(SIDE, 300)
        self.register_buffer("turned", torch.randn(300, SIDE))

    def forward(self, x):
        return self.linear(x) @ self.turned.t().transpose(0, 1)


def written_apart(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """The model as torch's exporter writes one of more than 2 GiB: each large tensor in a file of its own."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    options = {"save_as_external_data": True, "all_tensors_to_one_file": False, "convert_attribute": True}
    onnx.save_model(copy, str(folder / "apart.onnx"), size_threshold=1024, **options)
    return onnx.load(str(folder / "apart.onnx"), load_external_data=False)


class GraphWeightsTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "traced").mkdir()
        specs = [TensorSpec("x", [2, SIDE])], [TensorSpec("y", [2, SIDE])]
        self.model = export_graph(Net().eval(), [torch.zeros(2, SIDE)], *specs, self.folder / "traced").model

    def written(self, model: onnx.ModelProto) -> dict:
        """The weights by name, after the conversions that a pack's graph goes through."""
        data = DataFile(self.folder / f"{id(model)}.data")
        to_half(model, self.folder)
        data.take_weights(model, self.folder)
        path = self.folder / f"{id(model)}.onnx"
        path.write_bytes(model.SerializeToString())
        return {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(str(path)).graph.initializer}

    def test_weights_in_files_are_converted_like_those_in_the_model(self):
        apart = written_apart(self.model, self.folder)
        outside = [tensor.name for tensor in apart.graph.initializer if not tensor.raw_data]
        self.assertGreater(len(outside), 1)
        self.assertTrue(all(not tensor.raw_data for tensor in apart.graph.initializer if tensor.name in outside))
        written, expected = self.written(apart), self.written(self.model)
        self.assertEqual(written.keys(), expected.keys())
        for name, array in expected.items():
            self.assertEqual(array.dtype, np.float16)
            np.testing.assert_array_equal(written[name], array)

    def test_a_weight_in_a_file_is_transposed_in_its_file(self):
        weight = np.arange(600, dtype=np.float32).reshape(20, 30)
        nodes = [onnx.helper.make_node("Transpose", ["w"], ["t"]), onnx.helper.make_node("MatMul", ["x", "t"], ["y"])]
        model = written_apart(model_of(nodes, [1, 30], [1, 20], numpy_helper.from_array(weight, "w")), self.folder)
        fold_transposes(model, self.folder)
        self.assertEqual([node.op_type for node in model.graph.node], ["MatMul"])
        (turned,) = model.graph.initializer
        self.assertFalse(turned.raw_data)
        np.testing.assert_array_equal(numpy_helper.to_array(turned, str(self.folder)), weight.T)

    def test_a_constant_in_a_file_comes_back_into_the_model(self):
        """torch writes those of a large graph beside it, like HighSync's masks."""
        mask = np.arange(600, dtype=np.float32).reshape(20, 30)
        constant = onnx.helper.make_node("Constant", [], ["m"], value=numpy_helper.from_array(mask, "mask"))
        nodes = [constant, onnx.helper.make_node("Add", ["x", "m"], ["y"])]
        model = written_apart(model_of(nodes, [20, 30], [20, 30]), self.folder)
        tensor = model.graph.node[0].attribute[0].t
        self.assertFalse(tensor.raw_data)
        keep_inside(tensor, self.folder)
        np.testing.assert_array_equal(numpy_helper.to_array(tensor), mask)
        onnx.checker.check_model(model)


def model_of(nodes: list, taken: list, made: list, *weights: onnx.TensorProto) -> onnx.ModelProto:
    value = onnx.helper.make_tensor_value_info
    sides = [value("x", onnx.TensorProto.FLOAT, taken)], [value("y", onnx.TensorProto.FLOAT, made)]
    return onnx.helper.make_model(onnx.helper.make_graph(nodes, "test", *sides, list(weights)))


class SafeLoadingTest(unittest.TestCase):
    def loaded(self, **types) -> torch.nn.Module:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "weights.pt"
            shapes = {"weight": [2, 2], "bias": [2]}
            torch.save({name: torch.full(shapes[name], 3, dtype=kind) for name, kind in types.items()}, path)
            network = torch.nn.Linear(2, 2)
            with safe_loading():
                # By name, as LatentSync's network passes it on.
                network.load_state_dict(state_dict=torch.load(path, map_location="cpu"))
            return network

    def test_a_network_computes_with_the_checkpoints_weights(self):
        network = self.loaded(weight=torch.float32, bias=torch.float32)
        self.assertEqual(network(torch.ones(1, 2)).tolist(), [[9, 9]])

    def test_weights_in_half_precision_become_the_networks_type(self):
        network = self.loaded(weight=torch.float16, bias=torch.float16)
        self.assertEqual({tensor.dtype for tensor in network.parameters()}, {torch.float32})

    def test_loading_is_as_before_afterwards(self):
        before = torch.load, torch.nn.Module.load_state_dict
        self.loaded(weight=torch.float32, bias=torch.float32)
        self.assertEqual((torch.load, torch.nn.Module.load_state_dict), before)


if __name__ == "__main__":
    unittest.main()
