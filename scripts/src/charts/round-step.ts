/** The smallest round number that is at least `rough`: a power of ten, or 2, 2.5 or 5 times one. */
export function roundStep(rough: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5].map((factor) => factor * magnitude).find((step) => step >= rough) ?? 10 * magnitude;
}
