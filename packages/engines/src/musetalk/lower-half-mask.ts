/**
 * Sets the lower half (rows size/2 …) of the [3, size, size] crop at `offset` to −1, the value of black in [-1, 1], so
 * that the generator sees the frame that it must complete.
 */
export function maskLowerHalf(crops: Float32Array, offset: number, size: number): void {
  const area = size * size;
  const upper = (size / 2) * size;
  for (let channel = 0; channel < 3; channel++) {
    const plane = offset + channel * area;
    crops.fill(-1, plane + upper, plane + area);
  }
}
