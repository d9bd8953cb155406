import { philox, type Words } from './philox';

const WORD = 2 ** 32;

/**
 * Fills `target` with normally distributed noise (mean 0, variance 1) that depends only on `seed` and `stream`:
 * Philox4x32-10 counting through the sequence `stream`, two words per Box–Muller pair. The noise is the same on every
 * machine, and that of a frame can be computed without that of the frames before it. Both numbers are non-negative safe
 * integers.
 */
export function fillNoise(target: Float32Array, seed: number, stream = 0): void {
  const key = wordsOf(seed);
  const [streamLow, streamHigh] = wordsOf(stream);
  const words: Words = [0, 0, 0, 0];
  for (let i = 0; i < target.length; i += 4) {
    words[0] = i / 4;
    words[1] = 0;
    words[2] = streamLow;
    words[3] = streamHigh;
    philox(words, key);
    writePair(target, i, words[0], words[1]);
    writePair(target, i + 2, words[2], words[3]);
  }
}

/** Box–Muller. Writes beyond the end of a typed array have no effect. */
function writePair(target: Float32Array, at: number, a: number, b: number): void {
  const radius = Math.sqrt(-2 * Math.log((a + 0.5) / WORD));
  const angle = (2 * Math.PI * (b + 0.5)) / WORD;
  target[at] = radius * Math.cos(angle);
  target[at + 1] = radius * Math.sin(angle);
}

function wordsOf(value: number): [number, number] {
  return [value % WORD, Math.floor(value / WORD)];
}
