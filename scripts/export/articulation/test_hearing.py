import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

from .network import Hearing, contrasted, folded, outputs_of, read_safetensors, unfolded, write_safetensors
from .phonemes import postures
from .spectrogram import BANDS, normalized
from .trajectories import CLOSURE, JAW, Unit, trajectories


class TestHearing(unittest.TestCase):
    def test_lips_are_closed_through_the_hold_and_open_in_the_vowel_after_it(self) -> None:
        said = {"a": (0.0, 0.2), "b": (0.2, 0.3), "ɑ": (0.3, 0.6)}
        units = [Unit(*times, *postures(symbol, "ipa")) for symbol, times in said.items()]
        cues = trajectories(units, 0.6)
        self.assertGreater(cues[10:15, CLOSURE].min(), 0.99)
        self.assertEqual(cues[:6, CLOSURE].max(), 0)
        self.assertEqual(cues[19:, CLOSURE].max(), 0)
        self.assertGreater(cues[20:, JAW].max(), 0.8)

    def test_every_alphabet_names_the_same_postures(self) -> None:
        for alphabet, symbols in {"arpabet": "m aa f", "letters": "m a1 f", "russian": "mm aa ff"}.items():
            kinds = [part.kind for symbol in symbols.split() for part in postures(symbol, alphabet)]
            self.assertEqual(kinds, ["closure", "vowel", "dental"], alphabet)

    def test_a_quieter_recording_looks_the_same_unless_it_is_a_quiet_room(self) -> None:
        mel = np.random.default_rng(1).uniform(-4, 1, (BANDS, 1200))
        np.testing.assert_allclose(normalized(mel - 2), normalized(mel), atol=1e-5)
        self.assertLess(normalized(mel - 6).max(), 0)

    def test_the_stored_weights_hear_what_the_trained_network_hears(self) -> None:
        torch.manual_seed(1)
        network = Hearing()
        with torch.no_grad():
            for norm in network.norms:
                norm.running_mean.uniform_(-0.2, 0.2)
                norm.running_var.uniform_(0.5, 2)
                norm.weight.uniform_(0.5, 1.5)
        network.eval()
        mel = torch.rand(1, BANDS, 400) * 2 - 1
        with torch.no_grad():
            expected = contrasted(network(mel))[0].numpy().T
        np.testing.assert_allclose(outputs_of(folded(network), mel[0].numpy()), expected, atol=0.02)

    def test_training_goes_on_from_exactly_what_is_stored(self) -> None:
        torch.manual_seed(2)
        tensors = folded(Hearing().eval())
        mel = torch.rand(2, BANDS, 400) * 2 - 1
        with torch.no_grad():
            heard = contrasted(unfolded(tensors, mel)(mel))[0].numpy().T
        np.testing.assert_allclose(heard, outputs_of(tensors, mel[0].numpy()), atol=1e-4)

    def test_weights_survive_their_file(self) -> None:
        tensors = folded(Hearing().eval())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "hearing.safetensors")
            write_safetensors(path, tensors, {"seed": "1"})
            stored = read_safetensors(path)
        for name, tensor in tensors.items():
            np.testing.assert_array_equal(stored[name], tensor)

    def test_a_voice_in_which_everything_sounds_a_little_closed_has_no_more_closures(self) -> None:
        doubts = torch.zeros(1, 5, 100)
        doubts[0, CLOSURE, 50:54] = 3
        self.assertTrue(torch.allclose(contrasted(doubts)[0, CLOSURE], contrasted(doubts + 2)[0, CLOSURE], atol=1e-5))
        self.assertTrue(torch.equal(contrasted(doubts)[0, JAW], doubts[0, JAW]))


if __name__ == "__main__":
    unittest.main()
