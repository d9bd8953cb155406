import argparse
import unittest
from unittest import mock

import torch
import torch_speed
from golden import networks as golden_networks
from torch_networks import musetalk
from torch_speed import OutOfTime, lines_of, measured, parser, time_limit

NETWORKS = {
    "musetalk": ["unet", "vae_encoder", "vae_decoder"],
    "latentsync": [
        f"{name}-{side}" for side in (64, 128) for name in ("unet3d", "unet3d_guided", "vae_encoder", "vae_decoder")
    ],
    "highsync": ["denoising_unet", "denoising_unet_unconditional", "vae_encoder", "vae_decoder"],
}


class TorchSpeedTest(unittest.TestCase):
    def setUp(self):
        for setting in ("RUNS", "SECONDS_OF_RUNS"):
            patch = mock.patch.object(torch_speed, setting, 0)
            patch.start()
            self.addCleanup(patch.stop)

    def lines(self, engine: str, *variants: str) -> list:
        arguments = [engine, "--size", "small", "--device", "cpu", "--variants", *variants]
        return list(lines_of(parser().parse_args(arguments)))

    def test_every_network_is_timed_in_every_variant(self):
        for engine, names in NETWORKS.items():
            lines = [line for line in self.lines(engine, "eager", "channels-last+search") if "network" in line]
            timed = [(line["variant"], line["network"]) for line in lines if line.get("ms", 0) > 0 and "problem" not in line]
            self.assertEqual(timed, [(variant, name) for variant in ("eager", "channels-last+search") for name in names])

    def test_a_variant_that_cannot_run_says_why_and_the_rest_goes_on(self):
        lines = [line for line in self.lines("musetalk", "graph", "eager") if "network" in line]
        self.assertEqual({line["problem"] for line in lines[:3]}, {"ValueError: there are CUDA graphs on CUDA only"})
        self.assertEqual([line["network"] for line in lines[3:] if "ms" in line], NETWORKS["musetalk"])

    def test_frames_a_second_are_those_of_all_networks_together(self):
        lines = self.lines("musetalk", "eager")
        ms = {line["network"]: line["ms"] for line in lines if "network" in line}
        # Of eight faces, each of which is encoded twice.
        eight = 2 * ms["vae_encoder"] + ms["unet"] + ms["vae_decoder"]
        self.assertAlmostEqual(lines[-1]["frames_per_second"] * eight / 8000, 1, 2)

    def test_a_plan_takes_its_networks_alone(self):
        lines = self.lines("highsync", "eager", "--plan", "highsync-one-condition-at-a-time")
        self.assertEqual({line["network"] for line in lines if "network" in line}, set(NETWORKS["highsync"]))
        self.assertEqual(lines[-1]["engine"], "highsync-one-condition-at-a-time")
        lines = self.lines("highsync", "eager", "--plan", "highsync")
        self.assertEqual([line["problem"] for line in lines if "problem" in line], ["KeyError: 'denoising_guided'"])

    def test_channels_last_ends_with_its_variant(self):
        network = next(musetalk(golden_networks.small("musetalk")))
        weight = next(weight for weight in network.module.parameters() if weight.dim() == 4)
        for options, layout in (({"channels-last"}, torch.channels_last), ({"eager"}, torch.contiguous_format)):
            measured(network, frozenset(options), "cpu", torch.float32)
            self.assertTrue(weight.is_contiguous(memory_format=layout))

    def test_an_answer_that_is_not_finite_has_no_time(self):
        network = next(musetalk(golden_networks.small("musetalk")))
        network.module.unet.frames.leave.bias.fill_(float("nan"))
        with self.assertRaisesRegex(ValueError, "not finite"):
            measured(network, frozenset(["eager"]), "cpu", torch.float32)

    def test_what_takes_too_long_is_broken_off_past_handlers_of_errors(self):
        with self.assertRaisesRegex(OutOfTime, "not done after 0.01 s"), time_limit(0.01):
            while True:
                try:
                    sum(range(1000))
                except Exception:
                    self.fail("it was taken for an error")

    def test_unknown_options_are_refused(self):
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "channels-first is not eager, or of channels-last"):
            torch_speed.variant("channels-first")


if __name__ == "__main__":
    unittest.main()
