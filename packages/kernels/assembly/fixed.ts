import { roundedBits } from './line';

/**
 * Fixed point of weights that are multiplied with integers: products of two such weights with 8-bit samples fit 32
 * bits.
 */
export const ONE = 16384;
export const ONE_BITS = 14;

/** Fraction bits of the codes of a plane in 16 bits. Codes that overshoot 0 and 255 still fit. */
export const CODE_BITS = 6;

/**
 * How finely samples are counted: bytes are 8-bit codes, words are 10-bit codes, four to an 8-bit one. Once they are
 * loaded everything is in 8-bit codes, with fractions.
 */
export function perCode<T>(): f32 {
  return sizeof<T>() === 1 ? 1 : 4;
}

/** Four weights in the low halves of words; ignore the high halves. */
export function fixed(weights: v128): v128 {
  return roundedBits(f32x4.mul(weights, f32x4.splat(<f32>ONE)));
}

/** One minus three weights. As the fourth weight it lets flat areas keep their value. */
export function rest(a: v128, b: v128, c: v128): v128 {
  return i32x4.sub(i32x4.sub(i32x4.splat(ONE), a), i32x4.add(b, c));
}

/** Combines the low halves of two vectors into words of two halves each. */
export function halves(low: v128, high: v128): v128 {
  return v128.or(v128.and(low, i32x4.splat(0xffff)), i32x4.shl(high, 16));
}
