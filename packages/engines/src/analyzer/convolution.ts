import { type Attribute, type GraphBuilder, type Value } from '@lipsync/model-pack';
import { type Weights } from './weight-file';

/** Rows and columns of zero padding: top, left, bottom, right. */
export type Padding = readonly [number, number, number, number];

interface ConvolutionShape {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly stride: number;
  readonly padding: Padding;
}

/** A 2-D convolution with bias; kernel `size`×`size`. Weights `<prefix>/filters` are HWIO, as TensorFlow stores them. */
export function convolution(
  g: GraphBuilder,
  weights: Weights,
  prefix: string,
  size: number,
  x: Value,
  { inChannels, outChannels, stride, padding }: ConvolutionShape,
): Value {
  const filters = weights.get(`${prefix}/filters`, [size, size, inChannels, outChannels]);
  const kernel = g.weights(
    [outChannels, inChannels, size, size],
    toOihw(filters, size, inChannels, outChannels),
  );
  const bias = g.weights([outChannels], weights.get(`${prefix}/bias`, [outChannels]));
  return g.op('Conv', [x, kernel, bias], geometry(size, stride, padding));
}

/** A 3×3 convolution per channel followed by a 1×1 convolution with bias. */
export function separableConvolution(
  g: GraphBuilder,
  weights: Weights,
  prefix: string,
  x: Value,
  { inChannels, outChannels, stride, padding }: ConvolutionShape,
): Value {
  const perChannel = weights.get(`${prefix}/depthwise_filter`, [3, 3, inChannels, 1]);
  const mixing = weights.get(`${prefix}/pointwise_filter`, [1, 1, inChannels, outChannels]);
  const depthwise = g.op(
    'Conv',
    [x, g.weights([inChannels, 1, 3, 3], toOihw(perChannel, 3, 1, inChannels))],
    { ...geometry(3, stride, padding), group: inChannels },
  );
  const kernel = g.weights([outChannels, inChannels, 1, 1], toOihw(mixing, 1, inChannels, outChannels));
  const bias = g.weights([outChannels], weights.get(`${prefix}/bias`, [outChannels]));
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
