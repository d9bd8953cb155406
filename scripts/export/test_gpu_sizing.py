import unittest

import onnx
from golden.golden_file import KEPT
from gpu_sizing import CUDA_BYTES, PEAK, SHARES, calls_of, sizing

SCHEDULE = {"steps": 20}


class CallsTest(unittest.TestCase):
    """Runs per output frame, as the engines' own loops make them (packages/engines/src/*/engine.ts)."""

    def runs(self, engine: str, params: dict, *roles: str, together: bool = False, interval: int = 1) -> list:
        return [calls_of(engine, params, [role], together, interval)[role].per_frame for role in roles]

    def test_musetalk_encodes_two_pictures_of_a_face_and_takes_faces_in_batches(self):
        roles = ("vae_encoder", "unet", "vae_decoder", "face_parsing")
        self.assertEqual(self.runs("musetalk", {"batch": 8}, *roles), [1 / 4, 1 / 8, 1 / 8, 1 / 8])

    def test_latentsync_runs_every_step_twice_for_a_window(self):
        params = {"schedule": SCHEDULE, "window": 16, "guidance": 1.5}
        self.assertEqual(self.runs("latentsync", params, "vae_encoder", "unet3d"), [2, 2.5])

    def test_latentsync_runs_every_step_once_with_both_conditions_and_pictures_in_batches(self):
        params = {"schedule": SCHEDULE, "window": 16, "guidance": 1.5, "batch": 8}
        roles = ("vae_encoder", "unet3d", "vae_decoder")
        self.assertEqual(self.runs("latentsync", params, *roles, together=True), [1 / 4, 1.25, 1 / 8])

    def test_an_interval_of_deep_cache_is_one_run_and_the_last_one_is_filled_up(self):
        params = {"schedule": SCHEDULE, "window": 16, "guidance": 1.5}
        self.assertEqual(self.runs("latentsync", params, "unet3d", together=True, interval=3), [7 / 16])

    def test_a_distilled_network_runs_once_for_each_listed_step(self):
        params = {"schedule": {"steps": [951, 701, 401, 151]}, "window": 16, "guidance": 1}
        self.assertEqual(self.runs("latentsync", params, "unet3d"), [4 / 16])

    def test_highsync_moves_by_the_frames_that_windows_do_not_share(self):
        params = {"schedule": SCHEDULE, "window": 12, "overlap": 3, "guidance": 3.5}
        roles = ("vae_encoder", "denoising_unet", "denoising_unet_unconditional", "reference_unet")
        self.assertEqual(self.runs("highsync", params, *roles), [1, 20 / 9, 20 / 9, 1])

    def test_a_pack_without_guidance_needs_no_unconditional_run(self):
        params = {"schedule": SCHEDULE, "window": 12, "overlap": 3, "guidance": 1}
        self.assertEqual(self.runs("highsync", params, "denoising_unet_unconditional"), [0])


@unittest.skipIf(not hasattr(onnx.shape_inference, "infer_node_outputs"), "this onnx is too old")
class SizingTest(unittest.TestCase):
    def test_a_pack_is_the_sum_of_its_networks(self):
        for folder in ("musetalk/pack", "latentsync/pack", "highsync/pack", "highsync/pack-latents"):
            with self.subTest(folder):
                sized = sizing(KEPT / folder)
                graphs = sized["graphs"].values()
                macs = sum(graph["multiply_accumulates"] * graph["runs_per_frame"] for graph in graphs)
                self.assertGreater(macs, 0)
                self.assertAlmostEqual(sized["operations_per_frame"] / (2 * macs), 1, 3)
                for share, frames in zip(SHARES, sized["frames_per_second"]["T4"]):
                    self.assertAlmostEqual(frames * sized["operations_per_frame"] / (share * PEAK["T4"] * 1e12), 1, 1)
                self.assertGreaterEqual(sized["memory_gib"] * 2**30, CUDA_BYTES)


if __name__ == "__main__":
    unittest.main()
