import { type Attribute, float, type Graph, GraphBuilder, type Value } from '@lipsync/model-pack';
import { type Weights } from './weight-file';

export const DETECTOR_MODEL = 'tiny_face_detector_model';

/** Input pixels per grid cell; input sides must be multiples of it. */
export const DETECTOR_STRIDE = 32;

const DETECTOR_MEAN_RGB = [117.001, 114.697, 97.404] as const;

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
  const grid = backbone(g, weights, normalizedPixels(g, image, DETECTOR_MEAN_RGB));

  const shape = g.op('Shape', [grid]);
  const rows = g.op('Gather', [shape, g.constant('int64', [], [2])]);
  const columns = g.op('Gather', [shape, g.constant('int64', [], [3])]);
  const cells = g.op('Reshape', [
    g.op('Transpose', [grid], { perm: [0, 2, 3, 1] }),
    g.op('Concat', [asList(g, rows), asList(g, columns), g.ints([ANCHORS.length, VALUES_PER_ANCHOR])], {
      axis: 0,
    }),
  ]);
  const [offset, size, objectness] = g.split(cells, [2, 2, 1], 3);

  const cellOrigin = g.op('Concat', [ramp(g, columns, rows, 'x'), ramp(g, columns, rows, 'y')], { axis: 3 });
  const center = g.op('Add', [g.op('Sigmoid', [offset]), cellOrigin]);
  const anchors = g.weights([1, 1, ANCHORS.length, 2], ANCHORS.flat());
  const halfSize = g.op('Mul', [g.op('Mul', [g.op('Exp', [size]), anchors]), 0.5]);
  const corners = g.op('Concat', [g.op('Sub', [center, halfSize]), g.op('Add', [center, halfSize])], {
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

export const LANDMARK_MODEL = 'face_landmark_68_model';

/** Side of the square face crop that is the network's input. */
export const LANDMARK_INPUT_SIZE = 112;

const LANDMARK_MEAN_RGB = [122.782, 117.001, 104.298] as const;

/**
 * The 68-point landmark network of face-api: four dense blocks of separable convolutions, average pooling, and one
 * fully connected layer. image [n, 112, 112, 3] (8-bit RGB) → points [n, 68, 2], x and y as fractions of the crop.
 */
export function landmarkNet(weights: Weights): Graph {
  const g = new GraphBuilder('face_landmark_68');
  const image = g.input('image', 'uint8', ['n', LANDMARK_INPUT_SIZE, LANDMARK_INPUT_SIZE, 3]);
  g.output('points', landmarkPoints(g, weights, image), 'float32', ['n', 68, 2]);
  return g.build();
}

/** The computation of `landmarkNet`, within a graph. */
export function landmarkPoints(g: GraphBuilder, weights: Weights, image: Value): Value {
  let x = normalizedPixels(g, image, LANDMARK_MEAN_RGB);
  let inChannels = 3;
  for (const [block, outChannels] of [32, 64, 128, 256].entries()) {
    x = denseBlock(g, weights, `dense${block}`, x, inChannels, outChannels);
    inChannels = outChannels;
  }
  const features = g.op('Flatten', [g.op('GlobalAveragePool', [x])]);
  const matrix = g.weights([256, 136], weights('fc/weights'));
  const points = g.op('Gemm', [features, matrix, g.weights([136], weights('fc/bias'))]);
  return g.op('Reshape', [points, g.ints([-1, 68, 2])]);
}

/** TensorFlow's SAME padding for kernel 3: at stride 2 and an even side, the extra row and column are at the end. */
const HALVING: Padding = [0, 0, 1, 1];
const KEEPING: Padding = [1, 1, 1, 1];

/** Four convolutions, each fed with the sum of all previous outputs. The first halves the side. */
function denseBlock(
  g: GraphBuilder,
  weights: Weights,
  prefix: string,
  x: Value,
  inChannels: number,
  outChannels: number,
): Value {
  const entry = { inChannels, outChannels, stride: 2, padding: HALVING };
  const inner = { inChannels: outChannels, outChannels, stride: 1, padding: KEEPING };
  const conv0 = `${prefix}/conv0`;
  const first =
    inChannels === 3
      ? convolution(g, weights, conv0, 3, x, entry)
      : separableConvolution(g, weights, conv0, x, entry);

  let sum = g.op('Relu', [first]);
  let out = sum;
  for (const layer of [1, 2, 3]) {
    sum = g.op('Add', [sum, separableConvolution(g, weights, `${prefix}/conv${layer}`, out, inner)]);
    out = g.op('Relu', [sum]);
  }
  return out;
}

/** Rows and columns of zero padding: top, left, bottom, right. */
type Padding = readonly [number, number, number, number];

interface ConvolutionShape {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly stride: number;
  readonly padding: Padding;
}

/** A 2-D convolution with bias; kernel `size`×`size`. Weights `<prefix>/filters` are HWIO, as TensorFlow stores them. */
function convolution(
  g: GraphBuilder,
  weights: Weights,
  prefix: string,
  size: number,
  x: Value,
  { inChannels, outChannels, stride, padding }: ConvolutionShape,
): Value {
  const kernel = g.weights(
    [outChannels, inChannels, size, size],
    toOihw(weights(`${prefix}/filters`), size, inChannels, outChannels),
  );
  const bias = g.weights([outChannels], weights(`${prefix}/bias`));
  return g.op('Conv', [x, kernel, bias], geometry(size, stride, padding));
}

/** A 3×3 convolution per channel followed by a 1×1 convolution with bias. */
function separableConvolution(
  g: GraphBuilder,
  weights: Weights,
  prefix: string,
  x: Value,
  { inChannels, outChannels, stride, padding }: ConvolutionShape,
): Value {
  const perChannel = weights(`${prefix}/depthwise_filter`);
  const mixing = weights(`${prefix}/pointwise_filter`);
  const depthwise = g.op(
    'Conv',
    [x, g.weights([inChannels, 1, 3, 3], toOihw(perChannel, 3, 1, inChannels))],
    { ...geometry(3, stride, padding), group: inChannels },
  );
  const kernel = g.weights([outChannels, inChannels, 1, 1], toOihw(mixing, 1, inChannels, outChannels));
  const bias = g.weights([outChannels], weights(`${prefix}/bias`));
  return g.op('Conv', [depthwise, kernel, bias]);
}

function geometry(size: number, stride: number, padding: Padding): Record<string, Attribute> {
  return { kernel_shape: [size, size], strides: [stride, stride], pads: padding };
}

/** Converts TensorFlow's [row][column][in][out] order to ONNX's [out][in][row][column]. */
function toOihw(hwio: Float32Array, size: number, inputs: number, outputs: number): Float32Array {
  const area = size * size;
  return Float32Array.from({ length: hwio.length }, (_, i) => {
    const position = i % area;
    const input = Math.floor(i / area) % inputs;
    const output = Math.floor(i / (area * inputs));
    return hwio[(position * inputs + input) * outputs + output] ?? 0;
  });
}

/**
 * Converts interleaved 8-bit RGB [n, h, w, 3] to planar floats: (value − mean) / 255, as both networks were trained.
 */
function normalizedPixels(g: GraphBuilder, rgb: Value, mean: readonly [number, number, number]): Value {
  const planar = g.op('Transpose', [g.op('Cast', [rgb], { to: 1 })], { perm: [0, 3, 1, 2] });
  const centered = g.op('Sub', [planar, g.weights([1, 3, 1, 1], mean)]);
  return g.op('Div', [centered, 255]);
}
