/** x' = a·x + b·y + c, y' = d·x + e·y + f. */
export interface Affine {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}

/** The inverse transform. The determinant must not be 0. */
export function invertAffine({ a, b, c, d, e, f }: Affine): Affine {
  const determinant = a * e - b * d;
  const inverse = { a: e / determinant, b: -b / determinant, d: -d / determinant, e: a / determinant };
  return { ...inverse, c: -inverse.a * c - inverse.b * f, f: -inverse.d * c - inverse.e * f };
}
