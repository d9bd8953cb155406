"""
Rebuilds the packs that are stored as test data. The engines are compared with upstream's numbers on the stored packs,
so the exporters' current output for the same networks must compute the same.
"""

import json
import tempfile
import unittest
from pathlib import Path

from golden import networks, packs
from golden.golden_file import KEPT

#: Largest deviation between releases of torch as a share of an output's root mean square.
TOLERANCE = 1e-4


def made(engine: str, folder: str, out: Path) -> dict:
    """The manifest of an engine's pack, stored in `folder`, as the exporters write it today."""
    small, label = networks.small(engine), packs.label(engine, "small")
    if engine == "musetalk":
        packs.write_musetalk(out, label, small, packs.musetalk_settings(small))
    elif engine == "latentsync":
        params = packs.latentsync_settings(small, packs.STEPS["small"])
        packs.write_latentsync(out, label, small, params, packs.LATENTSYNC_PACKS[folder])
    else:
        params = packs.highsync_settings(small, packs.small_latent_mask(), packs.STEPS["small"])
        packs.write_highsync(out, label, small, packs.SMALL_BLOCKS, params, packs.HIGHSYNC_PACKS[folder])
    return json.loads((out / "pack.json").read_text())


def differences(made: dict, kept: dict) -> list:
    """The differences between the manifests, ignoring digests: every release of torch writes different graphs."""
    found = [key for key in kept if key != "roles" and made[key] != kept[key]]
    for name, role in kept["roles"].items():
        found.extend(f"{name}.{key}" for key in ("file", "inputs", "outputs") if made["roles"][name][key] != role[key])
        was, now = role["probe"], made["roles"][name]["probe"]
        for key, rms in was["rms"].items():
            pairs = zip([was["means"][key], rms, *was["first"][key]], [now["means"][key], now["rms"][key], *now["first"][key]])
            if any(abs(a - b) > TOLERANCE * rms for a, b in pairs):
                found.append(f"{name}.{key}")
    return found


class SmallPacksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "pack"

    def differences(self, engine: str, folder: str = "pack") -> list:
        return differences(made(engine, folder, self.out), json.loads((KEPT / engine / folder / "pack.json").read_text()))

    def test_musetalk(self):
        self.assertEqual(self.differences("musetalk"), [])

    def test_latentsync(self):
        self.assertEqual(self.differences("latentsync"), [])

    def test_latentsync_with_both_conditions_of_guidance_in_a_call(self):
        self.assertEqual(self.differences("latentsync", "pack-together"), [])

    def test_highsync(self):
        self.assertEqual(self.differences("highsync"), [])

    def test_highsync_with_the_reference_network_in_the_denoising_graph(self):
        self.assertEqual(self.differences("highsync", "pack-latents"), [])


if __name__ == "__main__":
    unittest.main()
