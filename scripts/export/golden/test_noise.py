import unittest

from golden.noise import noise


class NoiseTest(unittest.TestCase):
    def test_it_is_the_noise_that_the_service_makes(self):
        for value, known in zip(noise(4, 1247), [-0.827532, 2.336634, 0.43177, 0.001389]):
            self.assertAlmostEqual(float(value), known, 6)


if __name__ == "__main__":
    unittest.main()
