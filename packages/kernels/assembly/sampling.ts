/**
 * How planes are resampled under a rotation, stretch and shift, at an address.
 *
 * Layout: a … f (float64) of the map from column and row of an output to column and row of a sample, both counted at
 * their centers: x = a·column + b·row + c, y = d·column + e·row + f. Then how far the edge extends beyond the outermost
 * samples, in samples, and the value around that (float64). Then columns and rows of the planes, samples per axis and
 * output, and the interpolation (int32): 0 bilinear; 1 cubic with one sample per output, otherwise bilinear; 2
 * likewise, with lobes if there are several samples.
 */
export function mapX(sampling: usize, column: f64, row: f64): f64 {
  return stepX(sampling) * column + load<f64>(sampling, 8) * row + load<f64>(sampling, 16);
}

export function mapY(sampling: usize, column: f64, row: f64): f64 {
  return stepY(sampling) * column + load<f64>(sampling, 32) * row + load<f64>(sampling, 40);
}

/** The step from one output of a row to the next. */
export function stepX(sampling: usize): f64 {
  return load<f64>(sampling);
}

export function stepY(sampling: usize): f64 {
  return load<f64>(sampling, 24);
}

export function fringeOf(sampling: usize): f64 {
  return load<f64>(sampling, 48);
}

export function aroundOf(sampling: usize): f64 {
  return load<f64>(sampling, 56);
}

export function widthOf(sampling: usize): i32 {
  return load<i32>(sampling, 64);
}

export function heightOf(sampling: usize): i32 {
  return load<i32>(sampling, 68);
}

export function samplesOf(sampling: usize): i32 {
  return load<i32>(sampling, 72);
}

export function isCubic(sampling: usize): bool {
  return load<i32>(sampling, 76) > 0 && samplesOf(sampling) === 1;
}

export function hasLobes(sampling: usize): bool {
  return load<i32>(sampling, 76) === 2 && samplesOf(sampling) > 1;
}
