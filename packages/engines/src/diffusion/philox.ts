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
