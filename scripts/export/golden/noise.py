"""
Reimplements the service's noise (packages/engines/src/diffusion/noise.ts), as a starting point for upstream's samplers.
"""

import numpy as np

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
MASK = np.uint64(0xFFFFFFFF)


def noise(length: int, seed: int, stream: int = 0) -> np.ndarray:
    """Philox4x32-10 counting through the sequence `stream`, two words per Box–Muller pair; float32."""
    count = -(-length // 4)
    counter = np.zeros((4, count), dtype=np.uint64)
    counter[0] = np.arange(count)
    counter[2], counter[3] = stream % 2**32, stream // 2**32
    words = _philox(counter, [seed % 2**32, seed // 2**32])
    pairs = words.T.reshape(-1, 2).astype(np.float64)
    radius = np.sqrt(-2 * np.log((pairs[:, 0] + 0.5) / 2**32))
    angle = 2 * np.pi * (pairs[:, 1] + 0.5) / 2**32
    values = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return values.ravel()[:length].astype(np.float32)


def _philox(words: np.ndarray, key: list) -> np.ndarray:
    """Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011)."""
    a, b, c, d = words
    for _ in range(10):
        first, second = a * np.uint64(MULTIPLIERS[0]), c * np.uint64(MULTIPLIERS[1])
        a, b, c, d = (
            (second >> np.uint64(32)) ^ b ^ np.uint64(key[0]),
            second & MASK,
            (first >> np.uint64(32)) ^ d ^ np.uint64(key[1]),
            first & MASK,
        )
        key = [(part + step) % 2**32 for part, step in zip(key, KEY_STEPS)]
    return np.stack([a, b, c, d])
