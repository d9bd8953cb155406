/**
 * Writes a copy of the [3, size, size] crop at `offset` whose lower half (rows size/2 …) is −1, the value of black in
 * [-1, 1]: what the generator sees of the frame that it must complete.
 */
export function maskLowerHalf(
  crop: Float32Array,
  offset: number,
  size: number,
  target: Float32Array,
  targetOffset: number,
): void {
  const area = size * size;
  const upper = (size / 2) * size;
  for (let channel = 0; channel < 3; channel++) {
    const from = offset + channel * area;
    const to = targetOffset + channel * area;
    target.set(crop.subarray(from, from + upper), to);
    target.fill(-1, to + upper, to + area);
  }
}
