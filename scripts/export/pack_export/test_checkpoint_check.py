import json
import os
import sys
import tempfile
import unittest
from collections import OrderedDict
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from unittest import mock

import torch

from pack_export.checkpoint_check import (
    complaint_about,
    pretrained_file,
    refuse_other_network,
    refuse_wrong_checkpoints,
    tensors_of,
)
from pack_export.checkpoint_file import Tensor
from pack_export.checkpoint_manifest import Manifest, compress, expand, read_manifests

KNOWN = read_manifests()
#: One number of each type, which the tensors of a whole checkpoint repeat: they have the published shapes, and no size.
NUMBERS = {name: torch.zeros((), dtype=getattr(torch, name)) for name in ("float16", "float32", "int64", "int8")}


def repeated(tensor: Tensor, precision: str = "float32") -> torch.Tensor:
    return NUMBERS[precision if tensor.type == "float" else tensor.type].expand(tensor.shape)


def checkpoint(expected: Manifest, precision: str = "float32") -> dict:
    """The content of a file that fits."""
    tensors = {key: repeated(tensor, precision) for key, tensor in expected.tensors.items()}
    return {expected.under: tensors, "beside": 1} if expected.under else tensors


class Reduced(torch.nn.Module):
    """A network with the kinds of tensors that published ones have."""

    def __init__(self, layers: int = 12):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(layers))
        self.norm = torch.nn.BatchNorm2d(4)


class CheckpointTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def saved(self, content, name: str = "weights.pt", **options) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(content, path, **options)
        return path

    def complaint(self, content, expected: Manifest) -> str:
        """What is said about a file with this content."""
        return complaint_about(self.saved(content), expected) or ""


class PublishedCheckpointsTest(CheckpointTest):
    def test_files_with_the_tensors_of_their_manifest_pass_in_every_format_and_precision(self):
        for name, expected in KNOWN.items():
            with self.subTest(name):
                self.assertIsNone(complaint_about(self.saved(checkpoint(expected)), expected))
                half = checkpoint(expected, "float16")
                self.assertIsNone(complaint_about(self.saved(half, _use_new_zipfile_serialization=False), expected))

    def test_safetensors_pass(self):
        expected = KNOWN["sd-vae-ft-mse"]
        header = {key: {"dtype": "F16", "shape": tensor.shape} for key, tensor in expected.tensors.items()}
        text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
        path = self.folder / "diffusion_pytorch_model.safetensors"
        path.write_bytes(len(text).to_bytes(8, "little") + text)
        self.assertEqual(pretrained_file(self.folder), path)
        self.assertIsNone(complaint_about(path, expected))

    def test_parameters_pass_as_torch_pickles_them_and_as_it_did_before_release_0_4(self):
        class OldParameter:
            def __init__(self, tensor):
                self.tensor = tensor

            def __reduce__(self):
                return torch.nn.Parameter, (self.tensor,), (True, False, OrderedDict())

        expected = KNOWN["face-parsing-resnet18"]
        for wrap in (torch.nn.Parameter, OldParameter):
            tensors = checkpoint(expected)
            tensors["conv1.weight"] = wrap(tensors["conv1.weight"])
            self.assertIsNone(complaint_about(self.saved(tensors), expected))

    def test_what_upstreams_loaders_do_without_may_be_absent(self):
        names = {"latentsync-unet": ".pe", "face-parsing": "num_batches_tracked", "face-parsing-resnet18": "fc.weight"}
        for name, end in names.items():
            with self.subTest(name):
                expected = KNOWN[name]
                content = checkpoint(expected)
                tensors = content[expected.under] if expected.under else content
                absent = [key for key in tensors if key.endswith(end)]
                self.assertNotEqual(absent, [])
                for key in absent:
                    del tensors[key]
                self.assertIsNone(complaint_about(self.saved(content), expected))

    def test_older_names_pass_where_upstreams_loader_converts_them(self):
        expected = KNOWN["sd-vae-ft-mse"]
        older = {}
        for key, tensor in checkpoint(expected).items():
            for old, new in expected.renamed.items():
                key = key.replace(new, old)
            older[key] = tensor
        self.assertIn("encoder.mid_block.attentions.0.proj_attn.weight", older)
        self.assertIsNone(complaint_about(self.saved(older), expected))

    def test_the_weights_of_another_release_are_refused_by_their_name(self):
        complaint = self.complaint(checkpoint(KNOWN["latentsync-1.0-unet"]), KNOWN["latentsync-unet"])
        self.assertIn("is not the UNet of LatentSync 1.5 (256 pixels) or 1.6 (512 pixels):\n", complaint)
        self.assertIn('It holds under "state_dict" exactly the tensors of the UNet of LatentSync 1.0', complaint)

    def test_no_manifest_takes_the_file_of_another(self):
        for name, expected in KNOWN.items():
            path = self.saved(checkpoint(expected))
            takers = [other for other, wanted in KNOWN.items() if complaint_about(path, wanted) is None]
            self.assertEqual(takers, [name])


class RefusedCheckpointsTest(CheckpointTest):
    def setUp(self):
        super().setUp()
        self.expected = KNOWN["musetalk-unet"]
        self.tensors = checkpoint(self.expected)

    def test_missing_tensors(self):
        del self.tensors["conv_in.weight"], self.tensors["conv_out.bias"]
        complaint = self.complaint(self.tensors, self.expected)
        self.assertIn("\n  2 of 686 tensors missing: conv_in.weight, conv_out.bias\n", complaint)

    def test_a_part_of_the_tensors_that_a_lenient_loader_would_complete_with_random_ones(self):
        whole = KNOWN["latentsync-unet"]
        reduced = replace(whole, tensors=dict(list(whole.tensors.items())[:264]), optional=frozenset())
        part = dict(list(checkpoint(reduced)["state_dict"].items())[:188])
        complaint = self.complaint({"global_step": 1, "state_dict": part}, reduced)
        self.assertRegex(complaint, r"\n  76 of 264 tensors missing: \S+, \S+, \S+, …")

    def test_unexpected_tensors(self):
        self.tensors["module.conv_in.weight"] = torch.zeros(1)
        complaint = self.complaint(self.tensors, self.expected)
        self.assertIn("\n  1 unexpected: module.conv_in.weight\n", complaint)

    def test_another_shape(self):
        self.tensors["conv_in.weight"] = torch.zeros(320, 4, 3, 3)
        complaint = self.complaint(self.tensors, self.expected)
        self.assertIn("\n  1 of another shape: conv_in.weight is [320, 4, 3, 3], not [320, 8, 3, 3]\n", complaint)

    def test_another_type(self):
        self.tensors["conv_in.bias"] = NUMBERS["int8"].expand(320)
        self.tensors["conv_out.bias"] = {"quantized": torch.zeros(4)}
        complaint = self.complaint(self.tensors, self.expected)
        self.assertIn("conv_in.bias is int8, not float", complaint)
        self.assertIn("conv_out.bias is a dict, not a tensor", complaint)

    def test_tensors_in_an_entry_that_upstream_does_not_open(self):
        complaint = self.complaint({"state_dict": self.tensors}, self.expected)
        self.assertIn('holds under "state_dict" exactly the tensors of the UNet of MuseTalk 1.5 or 1.0', complaint)

    def test_tensors_outside_the_entry_that_upstream_opens(self):
        expected = KNOWN["latentsync-unet"]
        complaint = self.complaint(checkpoint(expected)["state_dict"], expected)
        self.assertIn('upstream reads its tensors from the entry "state_dict"', complaint)
        self.assertIn("It holds exactly the tensors of the UNet of LatentSync 1.5", complaint)

    def test_something_else_altogether(self):
        self.assertIn("resembles nothing that is known", self.complaint({"a": torch.zeros(1)}, self.expected))
        self.assertIn("holds a list", self.complaint([torch.zeros(1)], self.expected))

    def test_a_file_that_would_run_code_is_refused_without_running_it(self):
        class Harmful:
            def __reduce__(self):
                return os.mkdir, (str(folder),)

        folder = self.folder / "made-by-a-pickle"
        complaint = self.complaint({**self.tensors, "conv_in.bias": Harmful()}, self.expected)
        self.assertIn("mkdir, which loading would run", complaint)
        self.assertFalse(folder.exists())

    def test_damaged_and_absent_files(self):
        path = self.saved(self.tensors)
        for damaged in (path.read_bytes()[:-1000], b"<html>", b""):
            path.write_bytes(damaged)
            self.assertIn("is damaged, incomplete or no checkpoint", complaint_about(path, self.expected))
        complaint = complaint_about(self.folder / "absent.pt", self.expected)
        self.assertIn("absent.pt is missing. Expected: the UNet of MuseTalk", complaint)

    def test_one_message_names_every_wrong_file(self):
        files = {self.saved({}, "unet.pth"): self.expected, self.folder / "absent.bin": KNOWN["sd-vae-ft-mse"]}
        with self.assertRaisesRegex(SystemExit, r"(?s)unet\.pth is not .*absent\.bin is missing.*Nothing was exported"):
            refuse_wrong_checkpoints(files)


class ReducedNetworkTest(CheckpointTest):
    def setUp(self):
        super().setUp()
        path = self.folder / "reduced.txt"
        Manifest("a reduced network", tensors_of(Reduced())).write(path, ["made for a test"])
        self.expected = Manifest.read(path)
        # Twelve layers of two tensors are two lines.
        self.assertEqual(len(path.read_text().splitlines()), 2 + 2 + 5)

    def test_a_manifest_made_from_a_network_takes_its_weights(self):
        self.assertEqual(self.expected.tensors, tensors_of(Reduced()))
        self.assertIsNone(complaint_about(self.saved(Reduced().state_dict()), self.expected))

    def test_a_configuration_that_makes_another_network_is_refused(self):
        refuse_other_network(Reduced(), self.expected)
        with self.assertRaisesRegex(SystemExit, "does not make a reduced network:\n  2 of 29 tensors missing"):
            refuse_other_network(Reduced(layers=11), self.expected)

    def test_compressed_names_are_the_same_names(self):
        entries = {"a.0.b.0": "x", "a.0.b.1": "x", "a.1.b.0": "x", "a.1.b.1": "y", "a.10.b.0": "x", "1": "x", "2": "x"}
        again = {key: value for keys, value in compress(entries) for key in expand(keys)}
        self.assertEqual(again, entries)


class ExportersTest(CheckpointTest):
    """The exporters' own command lines, where upstream's packages are not even installed."""

    WRONG = {
        "musetalk": ["musetalkV15/unet.pth", "sd-vae/diffusion_pytorch_model.bin", "whisper/pytorch_model.bin",
                     "face-parse-bisent/resnet18-5c106cde.pth", "face-parse-bisent/79999_iter.pth"],
        "latentsync": ["latentsync_unet.pt", "whisper/tiny.pt", "sd-vae/diffusion_pytorch_model.bin"],
        "highsync": ["sd-image-variations-diffusers/unet/diffusion_pytorch_model.bin", "reference_unet-500.pth",
                     "denoising_unet-500.pth", "sd-vae-ft-mse/diffusion_pytorch_model.bin",
                     "audio_processor/whisper_tiny.pt"],
    }  # fmt: skip

    def test_every_file_is_checked_before_upstreams_code_is_imported(self):
        for engine, names in self.WRONG.items():
            with self.subTest(engine):
                for name in names:
                    self.saved({"a": torch.zeros(1)}, f"{engine}/{name}")
                weights = self.folder / engine
                command = [engine, "--upstream", "/nowhere", f"--weights={weights}", f"--out={self.folder}/pack"]
                command += [f"--vae={weights}/sd-vae", "--config=none"] if engine == "latentsync" else []
                with mock.patch.object(sys, "argv", command), self.assertRaises(SystemExit) as ended:
                    import_module(engine).main()
                for name in names:
                    self.assertIn(f"{weights / name} is not ", str(ended.exception))


if __name__ == "__main__":
    unittest.main()
