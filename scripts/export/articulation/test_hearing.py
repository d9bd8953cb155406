import unittest

import numpy as np
import torch

from .network import Hearing, folded, outputs_of
from .phonemes import postures
from .spectrogram import BANDS, normalized
from .trajectories import CLOSURE, JAW, Unit, trajectories


class TestHearing(unittest.TestCase):
    def test_lips_are_closed_through_the_hold_and_open_in_the_vowel_after_it(self) -> None:
        units = [Unit(0.0, 0.2, *postures("a", "ipa")), Unit(0.2, 0.3, *postures("b", "ipa")), Unit(0.3, 0.6, *postures("ɑ", "ipa"))]
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
            expected = network(mel)[0].numpy().T
        np.testing.assert_allclose(outputs_of(folded(network), mel[0].numpy()), expected, atol=0.02)


if __name__ == "__main__":
    unittest.main()
