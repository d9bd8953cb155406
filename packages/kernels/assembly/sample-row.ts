import { addCubicCodes, addLinearCodes } from './sample-codes';
import { addEdge } from './sample-edge';
import { addLinearFloats } from './sample-floats';
import { addCubicPairs } from './sample-pairs';
import { hasLobes, heightOf, isCubic, mapX, mapY, samplesOf, stepX, stepY, widthOf } from './sampling';

/** Keeps rounding errors from extending beyond a plane. */
const MARGIN: f64 = 1e-3;

/**
 * Resamples a row of `count` outputs from (column, row) on to float32 at `target`. The source planes hold codes (bytes
 * or words) or float32 samples and are `apart` bytes apart; the rows of the target are `targetApart` bytes apart. A
 * cubic plane of codes must be the only one. May write up to three values after the last output again. If `wanted` is
 * the address of as many float32, outputs with 0 there may be left at 0. Cubic planes of float32 need that, and a
 * paired copy of themselves at `paired`.
 *
 * An output is one cubic sample, or the mean of samples² samples, evenly spread over its area. With lobes these are
 * spread over twice its width and height, and the outer ones count against it: a mean alone would blur.
 */
export function sampleRow<T>(
  plane: usize,
  planes: i32,
  apart: usize,
  sampling: usize,
  column: i32,
  row: i32,
  count: i32,
  target: usize,
  targetApart: usize,
  wanted: usize,
  paired: usize,
): void {
  for (let i = 0; i < planes; i++) {
    memory.fill(target + <usize>i * targetApart, 0, (<usize>count) << 2);
  }
  const samples = samplesOf(sampling);
  const lobes = hasLobes(sampling);
  const spread = lobes ? 2 * samples : samples;
  const half = <f64>spread / 2;
  for (let j = 0; j < spread; j++) {
    const v = <f64>row + (<f64>j + 0.5 - half) / <f64>samples;
    const shareOfRow = lobes ? lobeAt(j, samples) : 1;
    for (let i = 0; i < spread; i++) {
      const u = <f64>column + (<f64>i + 0.5 - half) / <f64>samples;
      const x = mapX(sampling, u, v);
      const y = mapY(sampling, u, v);
      const share = (shareOfRow * (lobes ? lobeAt(i, samples) : 1)) / <f64>(samples * samples);
      addRow<T>(plane, planes, apart, sampling, x, y, share, count, target, targetApart, wanted, paired);
    }
  }
}

/**
 * The weight of sample `i` of twice `samples` along an axis: 1.2 within the output, −0.2 outside, the mean of both on
 * its border. Together with the mean itself this passes detail nearly unchanged up to what the outputs can hold.
 */
function lobeAt(i: i32, samples: i32): f64 {
  const distance = abs<i32>(2 * i + 1 - 2 * samples);
  if (distance === samples) return 0.5;
  return distance < samples ? 1.2 : -0.2;
}

/** Adds one sample times `share` to every output of a row, the first at (x, y). */
function addRow<T>(
  plane: usize,
  planes: i32,
  apart: usize,
  sampling: usize,
  x: f64,
  y: f64,
  share: f64,
  count: i32,
  target: usize,
  targetApart: usize,
  wanted: usize,
  paired: usize,
): void {
  const a = stepX(sampling);
  const d = stepY(sampling);
  const cubic = isCubic(sampling);
  const width = widthOf(sampling);

  // Which outputs have all their samples inside. A cubic footprint extends one sample further.
  const reach: f64 = cubic ? 1 : 0;
  const right = <f64>(width - 1) - reach;
  const bottom = <f64>(heightOf(sampling) - 1) - reach;
  const all = <f64>count;
  const from = <i32>min<f64>(all, max<f64>(enters(x, a, reach, right), enters(y, d, reach, bottom)));
  const until = min<f64>(leaves(x, a, reach, right), leaves(y, d, reach, bottom));
  const to = max<i32>(from, <i32>min<f64>(all, max<f64>(0, until)));

  for (let i = 0; i < from; i++) {
    const out = target + ((<usize>i) << 2);
    addEdge<T>(plane, planes, apart, sampling, x + <f64>i * a, y + <f64>i * d, share, out, targetApart);
  }
  if (to > from) {
    const skipped = (<usize>from) << 2;
    const firstX = x + <f64>from * a;
    const firstY = y + <f64>from * d;
    const out = target + skipped;
    const asked = wanted === 0 ? 0 : wanted + skipped;
    const inside = to - from;
    if (isInteger<T>()) {
      if (cubic) {
        addCubicCodes<T>(plane, width, firstX, firstY, a, d, inside, out);
      } else {
        addLinearCodes<T>(plane, planes, apart, width, firstX, firstY, a, d, inside, share, out, targetApart);
      }
    } else if (cubic) {
      addCubicPairs(paired, planes, apart, width, firstX, firstY, a, d, inside, out, targetApart, asked);
    } else {
      addLinearFloats(
        plane,
        planes,
        apart,
        width,
        firstX,
        firstY,
        a,
        d,
        inside,
        share,
        out,
        targetApart,
        asked,
      );
    }
  }
  for (let i = to; i < count; i++) {
    const out = target + ((<usize>i) << 2);
    addEdge<T>(plane, planes, apart, sampling, x + <f64>i * a, y + <f64>i * d, share, out, targetApart);
  }
}

/** The first i ≥ 0 at which start + i · step is in [low, high]; Infinity if there is none. */
function enters(start: f64, step: f64, low: f64, high: f64): f64 {
  const near = low + MARGIN;
  const far = high - MARGIN;
  if (start >= near && start <= far) return 0;
  if (start < near) return step > 0 ? Math.ceil((near - start) / step) : Infinity;
  return step < 0 ? Math.ceil((far - start) / step) : Infinity;
}

/** The first i at which start + i · step, having entered [low, high], has left it again. */
function leaves(start: f64, step: f64, low: f64, high: f64): f64 {
  const near = low + MARGIN;
  const far = high - MARGIN;
  if (step > 0) return Math.floor((far - start) / step) + 1;
  if (step < 0) return Math.floor((near - start) / step) + 1;
  return start >= near && start <= far ? Infinity : 0;
}
