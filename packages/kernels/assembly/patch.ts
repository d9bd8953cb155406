/** Fraction bits of a position: products of two fractions fit the 16 bits that samples are multiplied with. */
const PART_BITS = 7;
const PARTS = 128;
/** Positions are counted in 1/65536 of a pixel. */
const PLACE_BITS = 16;

/**
 * Resamples a rotated rectangle of a packed 8-bit RGB picture into `target`, also packed. Every pixel is the mean of
 * samples × samples bilinear ones, (stepX, stepY) apart along the rows and (−stepY, stepX) apart down the columns, in
 * pixels of the picture, from (originX, originY) on. Outside the picture is black. Reads up to five bytes after the
 * picture, and writes one after the target.
 */
export function samplePatch(
  picture: usize,
  width: i32,
  height: i32,
  originX: f64,
  originY: f64,
  stepX: f64,
  stepY: f64,
  samples: i32,
  columns: i32,
  rows: i32,
  target: usize,
): void {
  const scale = f32x4.splat(1.0 / (<f32>(samples * samples) * <f32>(PARTS * PARTS)));
  const half = f32x4.splat(0.5);
  const dx = places(stepX);
  const dy = places(stepY);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let sum = i32x4.splat(0);
      for (let j = row * samples; j < (row + 1) * samples; j++) {
        const first = <f64>(column * samples);
        let x = places(originX + first * stepX - <f64>j * stepY);
        let y = places(originY + first * stepY + <f64>j * stepX);
        for (let i = 0; i < samples; i++) {
          const left = x >> PLACE_BITS;
          const top = y >> PLACE_BITS;
          if (<u32>left < <u32>(width - 1) && <u32>top < <u32>(height - 1)) {
            sum = i32x4.add(sum, bilinear(picture + <usize>((top * width + left) * 3), width * 3, x, y));
          }
          x += dx;
          y += dy;
        }
      }
      const color = i32x4.trunc_sat_f32x4_u(f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(sum), scale), half));
      const words = i16x8.narrow_i32x4_u(color, color);
      // Stores four bytes for three: the next pixel overwrites the fourth.
      v128.store32_lane(target, i8x16.narrow_i16x8_u(words, words), 0);
      target += 3;
    }
  }
}

function places(pixels: f64): i32 {
  return <i32>nearest<f64>(pixels * <f64>(1 << PLACE_BITS));
}

/** R, G, B between the pixel at `upper` and its neighbors, each times PARTS². */
function bilinear(upper: usize, stride: i32, x: i32, y: i32): v128 {
  const fx = (x >> (PLACE_BITS - PART_BITS)) & (PARTS - 1);
  const fy = (y >> (PLACE_BITS - PART_BITS)) & (PARTS - 1);
  const gx = PARTS - fx;
  const gy = PARTS - fy;
  // Two pixels of a row as pairs R R, G G, B B of 16 bits.
  const pairs = i8x16(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
  const a = i8x16.swizzle(v128.load64_zero(upper), pairs);
  const b = i8x16.swizzle(v128.load64_zero(upper + <usize>stride), pairs);
  const above = i32x4.dot_i16x8_s(a, i32x4.splat((gx * gy) | ((fx * gy) << 16)));
  const below = i32x4.dot_i16x8_s(b, i32x4.splat((gx * fy) | ((fx * fy) << 16)));
  return i32x4.add(above, below);
}
