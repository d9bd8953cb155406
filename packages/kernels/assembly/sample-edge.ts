import { perCode } from './fixed';
import { aroundOf, fringeOf, heightOf, widthOf } from './sampling';

/**
 * Adds `share` of a sample whose footprint extends beyond the planes: the value around them, or a bilinear sample of
 * the extended edge.
 */
export function addEdge<T>(
  plane: usize,
  planes: i32,
  apart: usize,
  sampling: usize,
  x: f64,
  y: f64,
  share: f64,
  target: usize,
  targetApart: usize,
): void {
  const width = widthOf(sampling);
  const height = heightOf(sampling);
  const fringe = fringeOf(sampling);
  const outside =
    x < -fringe || y < -fringe || x > <f64>(width - 1) + fringe || y > <f64>(height - 1) + fringe;
  const left = Math.floor(x);
  const top = Math.floor(y);
  const x0 = clamped(left, width);
  const x1 = clamped(left + 1, width);
  const y0 = clamped(top, height) * width;
  const y1 = clamped(top + 1, height) * width;
  for (let i = 0; i < planes; i++) {
    const upper = mix(sampleAt<T>(plane, y0 + x0), sampleAt<T>(plane, y0 + x1), x - left);
    const lower = mix(sampleAt<T>(plane, y1 + x0), sampleAt<T>(plane, y1 + x1), x - left);
    const value = outside ? aroundOf(sampling) : mix(upper, lower, y - top);
    store<f32>(target, <f32>(<f64>load<f32>(target) + share * value));
    plane += apart;
    target += targetApart;
  }
}

/** Clamps a whole position to one of `count`. */
function clamped(place: f64, count: i32): i32 {
  return <i32>min<f64>(max<f64>(place, 0), <f64>(count - 1));
}

function sampleAt<T>(plane: usize, index: i32): f64 {
  const sample = <f64>load<T>(plane + <usize>index * sizeof<T>());
  return isInteger<T>() ? sample / <f64>perCode<T>() : sample;
}

function mix(a: f64, b: f64, share: f64): f64 {
  return a + (b - a) * share;
}
