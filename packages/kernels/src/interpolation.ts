/** The weight of a sample by its distance from the requested position: symmetric, zero from `radius` on. */
export interface Interpolation {
  readonly radius: number;
  readonly weight: (distance: number) => number;
}

/** Straight lines between samples. */
export const BILINEAR: Interpolation = { radius: 1, weight: (x) => Math.max(0, 1 - x) };

/** Windowed sinc with four lobes: sharp and without visible ringing on photographs. */
export const LANCZOS: Interpolation = { radius: 4, weight: (x) => (x < 4 ? sinc(x) * sinc(x / 4) : 0) };

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}
