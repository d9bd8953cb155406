/** Catmull–Rom weights at `x` after the second of four samples: those of the first, the third and the fourth. */

export function weightOfFirst(x: v128): v128 {
  // x/2 · ((2 − x)·x − 1)
  const inner = f32x4.sub(f32x4.mul(f32x4.sub(f32x4.splat(2), x), x), f32x4.splat(1));
  return f32x4.mul(f32x4.mul(inner, x), f32x4.splat(0.5));
}

export function weightOfThird(x: v128): v128 {
  // x/2 · ((4 − 3x)·x + 1)
  const inner = f32x4.mul(f32x4.sub(f32x4.splat(2), f32x4.mul(x, f32x4.splat(1.5))), x);
  return f32x4.mul(f32x4.add(inner, f32x4.splat(0.5)), x);
}

export function weightOfFourth(x: v128): v128 {
  // x²/2 · (x − 1)
  const half = f32x4.mul(f32x4.sub(x, f32x4.splat(1)), f32x4.splat(0.5));
  return f32x4.mul(f32x4.mul(half, x), x);
}
