const ROUNDS = 10;
const MULTIPLIER_A = 0xd2511f53;
const MULTIPLIER_B = 0xcd9e8d57;
const KEY_STEP_A = 0x9e3779b9;
const KEY_STEP_B = 0xbb67ae85;

/** Four unsigned 32-bit words. */
export type Words = [number, number, number, number];

/**
 * Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"): four random words for a counter of
 * four words under a key of two, in place. Any counter may be asked for in any order.
 */
export function philox(counter: Words, key: readonly [number, number]): void {
  let [keyA, keyB] = key;
  for (let round = 0; round < ROUNDS; round++) {
    const [a, b, c, d] = counter;
    counter[0] = (highWord(MULTIPLIER_B, c) ^ b ^ keyA) >>> 0;
    counter[1] = Math.imul(MULTIPLIER_B, c) >>> 0;
    counter[2] = (highWord(MULTIPLIER_A, a) ^ d ^ keyB) >>> 0;
    counter[3] = Math.imul(MULTIPLIER_A, a) >>> 0;
    keyA = (keyA + KEY_STEP_A) >>> 0;
    keyB = (keyB + KEY_STEP_B) >>> 0;
  }
}

/** The upper half of the 64-bit product of two unsigned words. */
function highWord(a: number, b: number): number {
  const [aLow, aHigh, bLow, bHigh] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle & 0xffff);
  return aHigh * bHigh + (middle >>> 16) + (carry >>> 16);
}
