import io
import json
import math
import os
import pickle
import pickletools
import struct
import sys
import tarfile
import tempfile
import unittest
import zipfile
from collections import OrderedDict
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from unittest import mock

import torch

from pack_export import checkpoint_loading
from pack_export.checkpoint_check import (
    complaint_about,
    pretrained_file,
    refuse_other_network,
    refuse_wrong_checkpoints,
    tensors_of,
)
from pack_export.checkpoint_file import Tensor, UnreadableCheckpoint
from pack_export.checkpoint_loading import FORCED, load_checkpoint, safe_loading
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

    def safetensors(self, expected: Manifest, name: str = "weights.safetensors") -> Path:
        """A file that fits, with zeros in half precision."""
        header, end = {"__metadata__": {"format": "pt"}}, 0
        for key, tensor in expected.tensors.items():
            start, end = end, end + 2 * math.prod(tensor.shape)
            header[key] = {"dtype": "F16", "shape": tensor.shape, "data_offsets": [start, end]}
        text = json.dumps(header).encode()
        path = self.folder / name
        path.write_bytes(len(text).to_bytes(8, "little") + text)
        os.truncate(path, 8 + len(text) + end)
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
        expected = KNOWN["whisper-tiny-transformers"]
        path = self.safetensors(expected, "model.safetensors")
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

    def test_safetensors_that_are_cut_off_or_too_long(self):
        expected = KNOWN["whisper-tiny-transformers"]
        path = self.safetensors(expected)
        size = path.stat().st_size
        for wrong in (size - 1, size + 1):
            os.truncate(path, wrong)
            self.assertIn("is cut off or has bytes behind its tensors", complaint_about(path, expected) or "")
        for wrong in (100, 0):
            os.truncate(path, wrong)
            self.assertIn("is damaged, incomplete or no checkpoint", complaint_about(path, expected) or "")

    def test_weights_that_are_no_numbers(self):
        network = Reduced()
        expected = Manifest("a reduced network", tensors_of(network), path=self.folder / "reduced.txt")
        for number in (math.nan, math.inf, -math.inf):
            tensors = Reduced().half().state_dict()
            tensors["layers.3.weight"][2, 1] = number
            complaint = self.complaint(tensors, expected)
            self.assertIn("  1 with NaN or infinity: layers.3.weight", complaint)
            self.assertNotIn("If it is the published file", complaint)

    def test_safetensors_with_weights_that_are_no_numbers(self):
        expected = KNOWN["whisper-tiny-transformers"]
        path = self.safetensors(expected)
        with path.open("r+b") as file:
            file.seek(-2, os.SEEK_END)
            file.write(b"\x00\x7e")
        self.assertIn("1 with NaN or infinity: ", complaint_about(path, expected) or "")

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


class Payload:
    """What a pickle does to whoever loads it as torch did before release 2.6."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


class AmbiguousCheckpointTest(CheckpointTest):
    """Files in which torch finds another pickle than a reader of zip archives does."""

    def setUp(self):
        super().setUp()
        self.trace = self.folder / "made-by-a-pickle"
        self.expected = Manifest("a reduced network", tensors_of(Reduced()), path=self.folder / "reduced.txt")
        self.clean = Reduced().state_dict()
        self.records = self.records_of(self.clean)
        self.payload = pickle.dumps({**self.clean, "more": Payload(self.trace)}, protocol=2)

    def records_of(self, content) -> dict:
        with zipfile.ZipFile(self.saved(content, "archive.pt")) as archive:
            return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}

    def archive(self, records) -> Path:
        path = self.folder / "weights.pt"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in records:
                archive.writestr(name, content)
        return path

    def assert_refused(self, path: Path, reason: str) -> None:
        complaint = complaint_about(path, self.expected)
        self.assertIsNotNone(complaint, "the check accepted the file")
        self.assertRegex(complaint, reason)
        with self.assertRaises(UnreadableCheckpoint):
            load_checkpoint(path)
        self.assertFalse(self.trace.exists())

    def test_an_archive_as_torch_writes_it_passes(self):
        path = self.archive((f"archive/{name}", content) for name, content in self.records.items())
        self.assertIsNone(complaint_about(path, self.expected))

    def test_a_second_pickle_whose_name_differs_in_case(self):
        # torch finds records without regard to case; the first file names the folder that it looks in.
        records = {f"archive/zz/{name}": content for name, content in self.records.items()}
        payload = {f"archive/{name.upper()}": content for name, content in self.records_of({**self.clean, "more": Payload(self.trace)}).items()}
        self.assert_refused(self.archive({**payload, **records}.items()), "archive/DATA.PKL, which torch.save does not write")

    def test_a_second_pickle_of_the_same_name(self):
        records = [(f"archive/{name}", content) for name, content in self.records.items()]
        with self.assertWarns(UserWarning):
            path = self.archive([*records, ("archive/data.pkl", self.payload)])
        self.assert_refused(path, "two records of the same name: archive/data.pkl")

    def test_a_second_folder(self):
        records = [(f"{folder}/{name}", content) for folder in ("a", "A") for name, content in self.records.items()]
        self.assert_refused(self.archive(records), "A/data.pkl, which torch.save does not write")

    def test_torchscript_in_the_place_of_tensors(self):
        for name in ("constants.pkl", "CONSTANTS.PKL", "code/__torch__.py"):
            records = [(f"archive/{record}", content) for record, content in {**self.records, name: b""}.items()]
            self.assert_refused(self.archive(records), f"archive/{name}, which torch.save does not write")

    def test_a_file_of_old_torch_before_the_archive(self):
        legacy = self.saved({"a": Payload(self.trace)}, "old.pt", _use_new_zipfile_serialization=False)
        path = self.archive((f"archive/{name}", content) for name, content in self.records.items())
        path.write_bytes(legacy.read_bytes() + path.read_bytes())
        self.assert_refused(path, "mkdir, which loading would run")

    def test_bytes_around_the_archive(self):
        path = self.archive((f"archive/{name}", content) for name, content in self.records.items())
        content = path.read_bytes()
        for wrong in (content * 2, content + content[-22:], content + b"more", content[:-2] + b"\x04\0more"):
            path.write_bytes(wrong)
            self.assert_refused(path, "bytes before its archive, or behind it|is damaged")

    def test_a_second_directory_behind_the_end_of_which_the_file_goes_on(self):
        # One reader takes the directory right before this end, another the one whose place the end states.
        def parts(records: dict, start: int) -> tuple:
            file = io.BytesIO()
            file.seek(start)
            with zipfile.ZipFile(file, "w") as archive:
                for name, content in records.items():
                    archive.writestr(f"archive/{name}", content)
            size, place = struct.unpack("<LL", file.getvalue()[-10:-2])
            return file.getvalue()[start:place], file.getvalue()[place : place + size]

        records, directory = parts(self.records_of({**self.clean, "more": Payload(self.trace)}), 0)
        clean, clean_directory = parts(self.records, len(records) - len(directory))
        place, count = len(records + clean), len(self.records)
        path = self.folder / "weights.pt"
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(directory), place, 22)
        no_end = struct.pack("<12x2LH", 0, place + 2 * len(directory) + len(end), 0)
        path.write_bytes(records + clean + directory + clean_directory + end + no_end)
        self.assert_refused(path, "bytes before its archive, or behind it")

    def test_a_directory_that_is_described_twice(self):
        path = self.saved(self.clean)
        content = bytearray(path.read_bytes())
        # The offset of the record for large archives, which readers either follow or ignore.
        content[-34:-26] = (1).to_bytes(8, "little")
        path.write_bytes(content)
        self.assert_refused(path, "bytes before its archive, or behind it")

    def test_a_pickle_after_the_objects_of_an_old_file(self):
        path = self.saved(self.clean, _use_new_zipfile_serialization=False)
        content = path.read_bytes()
        with path.open("rb") as file:
            for _ in range(4):
                pickletools_end(file)
            keys = file.tell()
        path.write_bytes(content[:keys] + pickle.dumps(Payload(self.trace), protocol=2))
        self.assert_refused(path, "mkdir, which loading would run")

    def test_an_old_file_that_ends_too_soon_or_too_late(self):
        path = self.saved(self.clean, _use_new_zipfile_serialization=False)
        content = path.read_bytes()
        for damaged in (content[:-1], content + b"x"):
            path.write_bytes(damaged)
            self.assert_refused(path, "does not end with its last tensor")

    def test_a_tar_archive_which_torch_tries_first(self):
        path = self.folder / "weights.pt"
        with tarfile.open(path, "w:") as archive:
            archive.addfile(tarfile.TarInfo("storages"), io.BytesIO())
        self.assert_refused(path, "is a tar archive")


def pickletools_end(file) -> None:
    """Moves behind the next pickle in a file."""
    for _ in pickletools.genops(file):
        pass


class LoadingTest(CheckpointTest):
    def test_weights_alone_are_loaded_whatever_the_environment_says(self):
        seen = {}

        def load(file, **options):
            seen.update(options, forced=os.environ.get(FORCED))

        path = self.saved({"a": torch.zeros(2)})
        with mock.patch.dict(os.environ, {FORCED: "1"}), mock.patch.object(checkpoint_loading, "torch_load", load):
            load_checkpoint(path)
        self.assertIs(seen["weights_only"], True)
        self.assertIsNone(seen["forced"])

    def test_a_file_is_mapped_where_torch_can_which_in_some_releases_wants_its_name_as_a_string(self):
        seen = {}

        def load(file, map_location=None, weights_only=False, mmap=False):
            seen.update(file=file, mmap=mmap)

        path = self.saved({"a": torch.zeros(2)})
        old = self.saved({"a": torch.zeros(2)}, "old.pt", _use_new_zipfile_serialization=False)
        with mock.patch.object(checkpoint_loading, "torch_load", load):
            load_checkpoint(path)
            self.assertEqual(seen, {"file": str(path), "mmap": True})
            load_checkpoint(old)
            self.assertEqual(seen, {"file": str(old), "mmap": False})

    def test_upstreams_own_loading_is_checked_too(self):
        trace = self.folder / "made-by-a-pickle"
        path = self.saved({"a": Payload(trace)})
        with path.open("rb") as opened, safe_loading():
            for file in (path, str(path), opened, io.BytesIO(path.read_bytes())):
                with self.assertRaisesRegex(UnreadableCheckpoint, "mkdir, which loading would run"):
                    torch.load(file, map_location="cpu", pickle_module=pickle, weights_only=False)
        self.assertFalse(trace.exists())

    def test_an_open_file_is_loaded_as_from_its_path(self):
        path = self.saved({"a": torch.ones(2)})
        with safe_loading(), path.open("rb") as file:
            self.assertEqual(torch.load(file)["a"].tolist(), [1, 1])

    def test_every_program_loads_by_this_one_function(self):
        programs = Path(__file__).resolve().parent.parent
        for path in programs.rglob("*.py"):
            if path.name.startswith("test_") or path.name in ("checkpoint_loading.py", "random_release.py"):
                continue
            self.assertNotIn("torch.load(", path.read_text(), path)


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
