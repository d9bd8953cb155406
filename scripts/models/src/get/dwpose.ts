import {
  decodeNetwork,
  type Graph,
  GraphBuilder,
  type Network,
  PackError,
  type Value,
} from '@lipsync/model-pack';

/** Side of the square patch that the graph takes: as high as the network's input. */
export const DWPOSE_PATCH_SIDE = 384;

/** Columns of the network's input: the middle three quarters of the patch. */
const COLUMNS = 288;
const FIRST_COLUMN = (DWPOSE_PATCH_SIDE - COLUMNS) / 2;

/** Per pixel of the input, the network has this many places where a point can be, along each axis. */
const SPLIT_RATIO = 2;

/** The face among the 133 points of COCO-WholeBody: 68 points in iBUG's order. */
const KEYPOINTS = 133;
const FACE = [23, 91] as const;

const MEAN_RGB = [123.675, 116.28, 103.53] as const;
const DEVIATION_RGB = [58.395, 57.12, 57.375] as const;

/** The operators around the network mean the same in all these versions of ONNX's operator set. */
const OPERATORS = { oldest: 11, newest: 21 };

/**
 * DWPose (Yang et al. 2023, github.com/IDEA-Research/DWPose) as a landmark network: image [n, 384, 384, 3] (8-bit RGB) →
 * points [n, 68, 2], x and y as fractions of the patch. `file` is the published dw-ll_ucoco_384.onnx: [n, 3, 384, 288] →
 * for every keypoint how likely it is at each place along x and along y (SimCC, Li et al. 2022).
 *
 * A point is where both are greatest, as in mmpose's `get_simcc_maximum`; where one is nowhere above zero, upstream puts
 * it one place outside the input's upper left corner, and so does this graph. mmpose counts from the center of the first
 * pixel, the patch from its edge. Throws PackError if the network is another one.
 */
export function dwposeLandmarks(file: Uint8Array): Graph {
  const network = dwposeNetwork(file);
  const g = new GraphBuilder('dwpose_face', 'face.');
  const side = DWPOSE_PATCH_SIDE;
  const image = g.input('image', 'uint8', ['n', side, side, 3]);
  const middle = g.op('Slice', [
    image,
    g.ints([FIRST_COLUMN]),
    g.ints([FIRST_COLUMN + COLUMNS]),
    g.ints([2]),
  ]);
  const planar = g.op('Transpose', [g.op('Cast', [middle], { to: 1 })], { perm: [0, 3, 1, 2] });
  const centered = g.op('Sub', [planar, g.weights([1, 3, 1, 1], MEAN_RGB)]);
  const pixels = g.op('Div', [centered, g.weights([1, 3, 1, 1], DEVIATION_RGB)]);

  const output = g.embed(network, { input: pixels });
  const x = mostLikely(g, output('simcc_x'));
  const y = mostLikely(g, output('simcc_y'));
  const seen = g.op('Greater', [g.op('Min', [x.score, y.score]), 0]);
  const places = g.op('Where', [seen, g.op('Concat', [x.place, y.place], { axis: 2 }), -1]);
  const inInput = g.op('Div', [places, SPLIT_RATIO]);
  const inPatch = g.op('Add', [inInput, g.weights([1, 1, 2], [FIRST_COLUMN + 0.5, 0.5])]);
  g.output('points', g.op('Div', [inPatch, side]), 'float32', ['n', 68, 2]);
  return g.build();
}

/** The place with the greatest score along one axis, the first of equals, for each point of the face: [n, 68, 1]. */
function mostLikely(g: GraphBuilder, simcc: Value): { place: Value; score: Value } {
  const face = g.op('Slice', [simcc, g.ints([FACE[0]]), g.ints([FACE[1]]), g.ints([1])]);
  const index = g.op('ArgMax', [face], { axis: 2, keepdims: 1 });
  return {
    place: g.op('Cast', [index], { to: 1 }),
    score: g.op('GatherElements', [face, index], { axis: 2 }),
  };
}

function dwposeNetwork(file: Uint8Array): Network {
  const refuse = (problem: string, cause?: unknown): PackError =>
    new PackError('manifest_invalid', `this is not DWPose's network for 384 × 288 pixels: ${problem}`, {
      cause,
    });
  let network: Network;
  try {
    network = decodeNetwork(file);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw refuse(cause.message, cause);
  }
  const { operators, inputs, outputs } = network;
  const expected = (tensors: Network['inputs'], name: string, dims: readonly number[]): boolean =>
    tensors.some((each) => each.name === name && each.dtype === 'float32' && hasDims(each.dims, dims));
  if (inputs.length !== 1 || !expected(inputs, 'input', [3, DWPOSE_PATCH_SIDE, COLUMNS]))
    throw refuse('its input differs, or is for one picture at a time');
  for (const [name, places] of [
    ['simcc_x', COLUMNS * SPLIT_RATIO],
    ['simcc_y', DWPOSE_PATCH_SIDE * SPLIT_RATIO],
  ] as const)
    if (!expected(outputs, name, [KEYPOINTS, places])) throw refuse(`${name} differs or is missing`);
  if (operators < OPERATORS.oldest || operators > OPERATORS.newest)
    throw refuse(`it is written in version ${operators} of ONNX's operators`);
  return network;
}

/** Whether the first dimension, the batch, is free, and no other contradicts. */
function hasDims([batch, ...dims]: Network['inputs'][number]['dims'], wanted: readonly number[]): boolean {
  if (typeof batch !== 'string' || dims.length !== wanted.length) return false;
  return dims.every((dim, axis) => typeof dim === 'string' || dim === wanted[axis]);
}
