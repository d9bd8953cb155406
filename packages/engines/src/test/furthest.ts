/**
 * Largest difference of two arrays at the places that count; NaN if they differ in length or contain NaN. Avoids
 * globals such as Math in the loop, because access to them is slow in a test.
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
