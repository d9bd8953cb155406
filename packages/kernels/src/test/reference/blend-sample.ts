/** Blends `value` into a sample of a picture, weighted by `share` and rounded. */
export function blendSample(picture: Uint8Array, at: number, value: number, share: number): void {
  const old = picture[at] ?? 0;
  const mixed = old + (value - old) * share + 0.5;
  picture[at] = mixed < 0 ? 0 : mixed > 255 ? 255 : mixed;
}
