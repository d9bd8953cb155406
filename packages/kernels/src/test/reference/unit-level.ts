/** Converts [-1, 1], which networks overshoot, to [0, 1]. */
export function unitLevel(value: number): number {
  const level = (value + 1) / 2;
  return level < 0 ? 0 : level > 1 ? 1 : level;
}
