import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import random_release
from pack_export.checkpoint_check import complaint_about
from pack_export.checkpoint_manifest import read_manifests
from random_release import CHECKPOINTS, CONFIGS, write_release

PUBLISHED = Path(__file__).resolve().parent.parent / "models" / "published"
#: Asked for with an option of its own.
PARSER = "face-parse-bisent/"
#: Small enough for a test.
SMALL = {"musetalk": ["face-parse-bisent/resnet18-5c106cde.pth"], "latentsync": ["whisper/tiny.pt"]}


class RandomReleaseTest(unittest.TestCase):
    def test_its_files_are_those_that_are_downloaded(self):
        for engine, checkpoints in CHECKPOINTS.items():
            names = {name for name in (*checkpoints, *CONFIGS[engine]) if not name.startswith(PARSER)}
            for release in json.loads((PUBLISHED / f"{engine}.json").read_text()):
                self.assertEqual(names, {file["to"] for file in release["files"] if not file["to"].startswith(PARSER)})

    def test_a_file_passes_the_check_that_refuses_wrong_checkpoints(self):
        known = read_manifests()
        for engine, names in SMALL.items():
            files = {name: CHECKPOINTS[engine][name] for name in names}
            only = mock.patch.dict(random_release.CHECKPOINTS, {engine: files})
            with self.subTest(engine), tempfile.TemporaryDirectory() as folder, only:
                for name in CONFIGS[engine]:
                    (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                write_release(engine, Path(folder))
                for name, (manifest, _) in files.items():
                    self.assertIsNone(complaint_about(Path(folder) / name, known[manifest]))


if __name__ == "__main__":
    unittest.main()
