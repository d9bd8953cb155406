export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Coefficient of variation: standard deviation divided by mean; 0 for equal values, 1 for exponential ones. */
export function variation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2))) / centre;
}
