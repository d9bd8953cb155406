const WORD = 2 ** 32;

/**
 * Fills `target` with normally distributed noise (mean 0, variance 1) that depends only on `seed` and `stream`:
 * Philox4x32-10 counting through the sequence `stream`, two words per Box–Muller pair. The noise is the same on every
 * machine, and that of a frame can be computed without that of the frames before it. Both numbers are non-negative safe
 * integers. With a `part`, only that part is filled, and up to three values on either side of it.
 */
export function fillNoise(
  target: Float32Array,
  seed: number,
  stream = 0,
  part: { readonly from: number; readonly to: number } = { from: 0, to: target.length },
): void {
  const key = wordsOf(seed);
  const [streamLow, streamHigh] = wordsOf(stream);
  const words: Words = [0, 0, 0, 0];
  for (let i = part.from - (part.from % 4); i < part.to; i += 4) {
    words[0] = i / 4;
    words[1] = 0;
    words[2] = streamLow;
    words[3] = streamHigh;
    philox(words, key);
    writePair(target, i, words[0], words[1]);
    writePair(target, i + 2, words[2], words[3]);
  }
}

/**
 * Box–Muller. Writes beyond the end of a typed array have no effect. Sine and cosine come from their series around the
 * middle of a quadrant, whose error of 2e-9 no float32 shows: `Math.sin` and `Math.cos` would take half of the time.
 */
function writePair(target: Float32Array, at: number, a: number, b: number): void {
  const radius = Math.sqrt(-Math.log((a + 0.5) / WORD));
  const x = (Math.PI / 2) * (((b & QUADRANT) + 0.5) / (QUADRANT + 1) - 0.5);
  const y = x * x;
  const sine = x * (1 + y * (-1 / 6 + y * (1 / 120 + y * (-1 / 5040 + y / 362880))));
  const cosine = 1 + y * (-1 / 2 + y * (1 / 24 + y * (-1 / 720 + y * (1 / 40320 - y / 3628800))));
  // √2 times those of the angle within its quadrant, which is x and an eighth of a turn.
  const across = radius * (cosine - sine);
  const up = radius * (cosine + sine);
  const quadrant = b >>> 30;
  const turned = (quadrant & 1) === 1;
  target[at] = (turned ? up : across) * (quadrant === 0 || quadrant === 3 ? 1 : -1);
  target[at + 1] = (turned ? across : up) * (quadrant < 2 ? 1 : -1);
}

/** The bits of a word that say where in a quarter turn it is. */
const QUADRANT = 2 ** 30 - 1;

function wordsOf(value: number): [number, number] {
  return [value % WORD, Math.floor(value / WORD)];
}

const ROUNDS = 10;
const MULTIPLIER_A = 0xd2511f53;
const MULTIPLIER_B = 0xcd9e8d57;
const KEY_STEP_A = 0x9e3779b9;
const KEY_STEP_B = 0xbb67ae85;

/** Looked up once, because philox uses it a hundred times for four words, and access to a global can be slow. */
const { imul } = Math;

/** Four unsigned 32-bit words. */
export type Words = [number, number, number, number];

/**
 * Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"): four random words for a counter of four
 * words under a key of two, in place. Counters may be used in any order.
 */
export function philox(counter: Words, key: readonly [number, number]): void {
  let keyA = key[0];
  let keyB = key[1];
  let a = counter[0];
  let b = counter[1];
  let c = counter[2];
  let d = counter[3];
  for (let round = 0; round < ROUNDS; round++) {
    const left = highWord(MULTIPLIER_B, c) ^ b ^ keyA;
    const right = highWord(MULTIPLIER_A, a) ^ d ^ keyB;
    b = imul(MULTIPLIER_B, c);
    d = imul(MULTIPLIER_A, a);
    a = left;
    c = right;
    keyA = (keyA + KEY_STEP_A) | 0;
    keyB = (keyB + KEY_STEP_B) | 0;
  }
  counter[0] = a >>> 0;
  counter[1] = b >>> 0;
  counter[2] = c >>> 0;
  counter[3] = d >>> 0;
}

/** The upper half of the 64-bit product of two unsigned words. */
function highWord(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = imul(aHigh, bLow) + (imul(aLow, bLow) >>> 16);
  const carry = imul(aLow, bHigh) + (middle & 0xffff);
  return (imul(aHigh, bHigh) + (middle >>> 16) + (carry >>> 16)) | 0;
}
