import { type Graph, GraphBuilder, type Value } from '@lipsync/model-pack';
import { convolution, type Padding, separableConvolution } from './convolution';
import { normalisedPixels } from './pixels';
import { type Weights } from './weight-file';

export const LANDMARK_MODEL = 'face_landmark_68_model';

/** Side of the square face crop that is the network's input. */
export const LANDMARK_INPUT_SIZE = 112;

const MEAN_RGB = [122.782, 117.001, 104.298] as const;

/**
 * The 68-point landmark network of face-api: four dense blocks of separable convolutions, average pooling, and one
 * fully connected layer. image [n, 112, 112, 3] (8-bit RGB) → points [n, 68, 2], x and y as fractions of the crop.
 */
export function landmarkNet(weights: Weights): Graph {
  const g = new GraphBuilder('face_landmark_68');
  const image = g.input('image', 'uint8', ['n', LANDMARK_INPUT_SIZE, LANDMARK_INPUT_SIZE, 3]);

  let x = normalisedPixels(g, image, MEAN_RGB);
  let inChannels = 3;
  for (const [block, outChannels] of [32, 64, 128, 256].entries()) {
    x = denseBlock(g, weights, `dense${block}`, x, inChannels, outChannels);
    inChannels = outChannels;
  }
  const features = g.op('Flatten', [g.op('GlobalAveragePool', [x])]);
  const matrix = g.weights([256, 136], weights.get('fc/weights', [256, 136]));
  const points = g.op('Gemm', [features, matrix, g.weights([136], weights.get('fc/bias', [136]))]);
  g.output('points', g.op('Reshape', [points, g.ints([-1, 68, 2])]), 'float32', ['n', 68, 2]);
  return g.build();
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
