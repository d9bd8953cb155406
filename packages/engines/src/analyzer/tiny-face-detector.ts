import { float, type Graph, GraphBuilder, type Value } from '@lipsync/model-pack';
import { convolution, separableConvolution } from './convolution';
import { normalisedPixels } from './pixels';
import { type Weights } from './weight-file';

export const DETECTOR_MODEL = 'tiny_face_detector_model';

/** Input pixels per grid cell; input sides must be multiples of it. */
export const DETECTOR_STRIDE = 32;

const MEAN_RGB = [117.001, 114.697, 97.404] as const;

/** Prior box sizes, in grid cells. */
const ANCHORS = [
  [1.603231, 2.094468],
  [6.041143, 7.080126],
  [2.882459, 3.518061],
  [4.266906, 5.178857],
  [9.041765, 10.66308],
] as const;

const VALUES_PER_ANCHOR = 5;

/**
 * The tiny face detector of face-api: a grid detector like Tiny-YOLOv2, made of separable convolutions. image [1, h, w,
 * 3] (8-bit RGB) → boxes [k, 4] (x1, y1, x2, y2 in input pixels) and scores [k] (0..1), k = 5 · (h/32) · (w/32). The
 * caller removes overlapping boxes.
 */
export function tinyFaceDetector(weights: Weights): Graph {
  const g = new GraphBuilder('tiny_face_detector');
  const image = g.input('image', 'uint8', [1, 'height', 'width', 3]);
  const grid = backbone(g, weights, normalisedPixels(g, image, MEAN_RGB));

  const shape = g.op('Shape', [grid]);
  const rows = g.op('Gather', [shape, g.constant('int64', [], [2])]);
  const columns = g.op('Gather', [shape, g.constant('int64', [], [3])]);
  const cells = g.op('Reshape', [
    g.op('Transpose', [grid], { perm: [0, 2, 3, 1] }),
    g.op('Concat', [asList(g, rows), asList(g, columns), g.ints([ANCHORS.length, VALUES_PER_ANCHOR])], {
      axis: 0,
    }),
  ]);
  const [offset, size, objectness] = g.multi('Split', [cells, g.ints([2, 2, 1])], 3, { axis: 3 });
  if (offset === undefined || size === undefined || objectness === undefined) throw new Error('unreachable');

  const cellOrigin = g.op('Concat', [ramp(g, columns, rows, 'x'), ramp(g, columns, rows, 'y')], { axis: 3 });
  const centre = g.op('Add', [g.op('Sigmoid', [offset]), cellOrigin]);
  const anchors = g.weights([1, 1, ANCHORS.length, 2], ANCHORS.flat());
  const halfSize = g.op('Mul', [g.op('Mul', [g.op('Exp', [size]), anchors]), 0.5]);
  const corners = g.op('Concat', [g.op('Sub', [centre, halfSize]), g.op('Add', [centre, halfSize])], {
    axis: 3,
  });
  const boxes = g.op('Mul', [g.op('Reshape', [corners, g.ints([-1, 4])]), DETECTOR_STRIDE]);
  g.output('boxes', boxes, 'float32', ['k', 4]);
  g.output('scores', g.op('Reshape', [g.op('Sigmoid', [objectness]), g.ints([-1])]), 'float32', ['k']);
  return g.build();
}

/** Six convolutions with pooling in between, and one for the box encoding: [1, 3, h, w] → [1, 25, h/32, w/32]. */
function backbone(g: GraphBuilder, weights: Weights, pixels: Value): Value {
  const widths = [16, 32, 64, 128, 256, 512];
  // The first convolution has no padding. The grid still has the right size, because pooling rounds up.
  const first = { inChannels: 3, outChannels: 16, stride: 1, padding: [0, 0, 0, 0] } as const;
  let x = pool(g, leaky(g, convolution(g, weights, 'conv0', 3, pixels, first)), 2);
  for (let layer = 1; layer < widths.length; layer++) {
    const [inChannels = 0, outChannels = 0] = widths.slice(layer - 1);
    const shape = { inChannels, outChannels, stride: 1, padding: [1, 1, 1, 1] } as const;
    x = leaky(g, separableConvolution(g, weights, `conv${layer}`, x, shape));
    x = pool(g, x, layer === widths.length - 1 ? 1 : 2);
  }
  const last = {
    inChannels: 512,
    outChannels: ANCHORS.length * VALUES_PER_ANCHOR,
    stride: 1,
    padding: [0, 0, 0, 0],
  } as const;
  return convolution(g, weights, 'conv8', 1, x, last);
}

const leaky = (g: GraphBuilder, x: Value): Value => g.op('LeakyRelu', [x], { alpha: float(0.1) });

const pool = (g: GraphBuilder, x: Value, stride: number): Value =>
  g.op('MaxPool', [x], { kernel_shape: [2, 2], strides: [stride, stride], auto_pad: 'SAME_UPPER' });

const asList = (g: GraphBuilder, scalar: Value): Value => g.op('Unsqueeze', [scalar, g.ints([0])]);

/** The column (x) or row (y) of each grid cell, as [rows, columns, anchors, 1]. */
function ramp(g: GraphBuilder, columns: Value, rows: Value, axis: 'x' | 'y'): Value {
  const zero = g.constant('int64', [], [0]);
  const one = g.constant('int64', [], [1]);
  const line = g.op('Cast', [g.op('Range', [zero, axis === 'x' ? columns : rows, one])], { to: 1 });
  const shaped = g.op('Reshape', [line, g.ints(axis === 'x' ? [1, -1, 1, 1] : [-1, 1, 1, 1])]);
  const full = g.op('Concat', [asList(g, rows), asList(g, columns), g.ints([ANCHORS.length, 1])], {
    axis: 0,
  });
  return g.op('Expand', [shaped, full]);
}
