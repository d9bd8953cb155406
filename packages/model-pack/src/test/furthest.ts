/**
 * Largest difference of two arrays at the places that count; NaN when they differ in length or hold what is not a
 * number. Globals such as Math are slow to reach in a test, so the loop keeps away from them.
 */
export function furthest(
  a: Float32Array,
  b: Float32Array,
  counts: (index: number) => boolean = () => true,
): number {
  if (a.length !== b.length) return NaN;
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const apart = (a[i] ?? 0) - (b[i] ?? 0);
    if ((apart <= worst && -apart <= worst) || !counts(i)) continue;
    if (Number.isNaN(apart)) return apart;
    worst = Math.abs(apart);
  }
  return worst;
}
