/**
 * Turns three float32 planes of 8-bit codes Y, U, V, in place, into R, G, B in [-1, 1]. `area` is a multiple of four.
 * The factors are those of ToRgb: y = Y − black, u = U − 128, v = V − 128.
 */
export function toRgb(
  planes: usize,
  area: i32,
  black: f32,
  luma: f32,
  redV: f32,
  greenU: f32,
  greenV: f32,
  blueU: f32,
): void {
  // From [0, 1] to [-1, 1]: everything twice, less one.
  const gain = f32x4.splat(2 * luma);
  const base = f32x4.splat(-2 * luma * black - 1);
  const red = f32x4.splat(2 * redV);
  const greenFromU = f32x4.splat(2 * greenU);
  const greenFromV = f32x4.splat(2 * greenV);
  const blue = f32x4.splat(2 * blueU);
  const centre = f32x4.splat(128);
  const plane = (<usize>area) << 2;
  for (let at = planes, end = planes + plane; at < end; at += 16) {
    const y = f32x4.add(f32x4.mul(v128.load(at), gain), base);
    const u = f32x4.sub(v128.load(at + plane), centre);
    const v = f32x4.sub(v128.load(at + 2 * plane), centre);
    v128.store(at, clipped(f32x4.add(y, f32x4.mul(v, red))));
    const green = f32x4.add(f32x4.mul(u, greenFromU), f32x4.mul(v, greenFromV));
    v128.store(at + plane, clipped(f32x4.add(y, green)));
    v128.store(at + 2 * plane, clipped(f32x4.add(y, f32x4.mul(u, blue))));
  }
}

/** To [-1, 1]; what is not a number becomes −1. */
export function clipped(values: v128): v128 {
  return f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(-1), values));
}

/** From [-1, 1], where graphs may overshoot, to [0, 1]. */
export function unit(values: v128): v128 {
  const half = f32x4.splat(0.5);
  return f32x4.add(f32x4.mul(clipped(values), half), half);
}

/** Three colours times three float32 at `factors`. */
export function weighted(red: v128, green: v128, blue: v128, factors: usize): v128 {
  const sum = f32x4.add(
    f32x4.mul(red, v128.load32_splat(factors)),
    f32x4.mul(green, v128.load32_splat(factors, 4)),
  );
  return f32x4.add(sum, f32x4.mul(blue, v128.load32_splat(factors, 8)));
}

/**
 * Turns `count` (a multiple of four) samples of three float32 planes R, G, B in [-1, 1], `apart` bytes from each other,
 * in place, into 8-bit codes Y, U, V before rounding. `factors` are ten float32: those of FromRgb in their order.
 */
export function toYuv(planes: usize, apart: usize, count: i32, factors: usize): void {
  const black = v128.load32_splat(factors);
  const grey = f32x4.splat(128);
  for (let at = planes, end = planes + ((<usize>count) << 2); at < end; at += 16) {
    const red = unit(v128.load(at));
    const green = unit(v128.load(at + apart));
    const blue = unit(v128.load(at + 2 * apart));
    v128.store(at, f32x4.add(black, weighted(red, green, blue, factors + 4)));
    v128.store(at + apart, f32x4.add(grey, weighted(red, green, blue, factors + 16)));
    v128.store(at + 2 * apart, f32x4.add(grey, weighted(red, green, blue, factors + 28)));
  }
}
