/**
 * Copies `count` values of an encoder's output for one picture, scaled. Mean and log-variance are stacked on the
 * channels; using only the mean, which comes first, makes results repeatable.
 */
export function copyScaledMean(
  moments: Float32Array,
  from: number,
  count: number,
  scale: number,
  target: Float32Array,
  to: number,
): void {
  for (let i = 0; i < count; i++) target[to + i] = (moments[from + i] ?? 0) * scale;
}
