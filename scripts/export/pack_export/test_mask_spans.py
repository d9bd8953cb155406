import unittest

import numpy as np

from pack_export.mask_spans import generated_spans


class MaskSpansTest(unittest.TestCase):
    def test_every_run_of_black_is_a_span_with_both_its_ends(self):
        mask = np.full((4, 6), 255, dtype=np.uint8)
        mask[1, [0, 1, 3]] = 0
        mask[3, :] = 0
        self.assertEqual(generated_spans(mask), [[1, 0, 1], [1, 3, 3], [3, 0, 5]])


if __name__ == "__main__":
    unittest.main()
