import json
import tempfile
import unittest
from pathlib import Path

import onnx
import torch

from pack_export.export_role import ExportOptions, Role, sha256_of
from pack_export.probe import ProbeInput, wave
from pack_export.tensor_spec import TensorSpec
from pack_export.write_pack import PackLabel, write_pack

LABEL = PackLabel("musetalk", "test", "1.0.0", "MIT", "random weights")
OPTIONS = ExportOptions(data_file_from=0)


def role(name: str, module: torch.nn.Module, **options) -> Role:
    return Role(
        name=name,
        module=module,
        inputs=[TensorSpec("x", ["batch", 32], range=(-1, 1))],
        outputs=[TensorSpec("y", ["batch", 32])],
        probe=ProbeInput(dims={"batch": 3}, fill={"x": "wave"}),
        **options,
    )


class WritePackTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "pack"
        self.linear = torch.nn.Linear(32, 32).eval()

    def written(self, *roles: Role) -> dict:
        write_pack(self.out, LABEL, roles, {"a": 1}, OPTIONS)
        return json.loads((self.out / "pack.json").read_text())

    def test_the_manifest_names_files_digests_tensors_and_what_torch_answers(self):
        manifest = self.written(role("net", self.linear))
        entry = manifest["roles"]["net"]
        self.assertEqual(entry["file"], "net.onnx")
        self.assertEqual(entry["sha256"], sha256_of(self.out / "net.onnx"))
        data = {"file": "net.onnx.data", "sha256": sha256_of(self.out / "net.onnx.data")}
        self.assertEqual(entry["externalData"], [data])
        spec = {"name": "x", "dtype": "float32", "dims": ["batch", 32], "range": [-1, 1]}
        self.assertEqual(entry["inputs"], {"x": spec})
        answer = self.linear(torch.from_numpy(wave([3, 32])))
        self.assertAlmostEqual(entry["probe"]["means"]["y"], float(answer.mean()), 6)
        self.assertAlmostEqual(entry["probe"]["first"]["y"][7], float(answer.ravel()[7]), 6)
        self.assertEqual(manifest["params"], {"a": 1})

    def test_torch_runs_once_for_trace_and_probe(self):
        """A run of a published network on a CPU takes minutes."""
        runs = []
        self.linear.register_forward_hook(lambda *_: runs.append(1))
        self.written(role("net", self.linear))
        self.assertEqual(len(runs), 1)

    def test_roles_of_one_group_keep_equal_weights_once(self):
        wrapped = torch.nn.Sequential(self.linear, torch.nn.ReLU())
        roles = self.written(role("one", self.linear, data_group="both"), role("two", wrapped, data_group="both"))["roles"]
        self.assertEqual(roles["one"]["externalData"], roles["two"]["externalData"])
        self.assertLess((self.out / "both.onnx.data").stat().st_size, 1.5 * 32 * 32 * 4)
        for name in ("one.onnx", "two.onnx"):
            onnx.load(str(self.out / name))

    def test_a_directory_that_exists_is_left_alone(self):
        self.out.mkdir()
        with self.assertRaises(FileExistsError):
            self.written(role("net", self.linear))

    def test_a_pack_that_fails_leaves_nothing(self):
        broken = torch.nn.Linear(32, 32)
        torch.nn.init.constant_(broken.weight, float("nan"))
        with self.assertRaisesRegex(ValueError, "not finite"):
            self.written(role("net", self.linear), role("broken", broken))
        self.assertEqual(list(self.out.parent.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
