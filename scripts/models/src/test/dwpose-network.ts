import { faceApiWeights, LANDMARK_INPUT_SIZE as SIDE, landmarkPoints } from '@lipsync/builtin-packs';
import { encodeModel, GraphBuilder, type Value } from '@lipsync/model-pack';

export const SIMCC = { keypoints: 133, width: 288, height: 384, split: 2 };

/** A network with the tensors of the published DWPose, in version 11 of ONNX's operators, like it. */
export function simccNetwork(
  compute: (g: GraphBuilder, input: Value) => { readonly x: Value; readonly y: Value },
  operators = 11,
): Uint8Array {
  const { keypoints, width, height, split } = SIMCC;
  const g = new GraphBuilder('simcc', 'simcc.');
  const { x, y } = compute(g, g.input('input', 'float32', ['batch', 3, height, width]));
  g.output('simcc_x', x, 'float32', ['batch', keypoints, width * split]);
  g.output('simcc_y', y, 'float32', ['batch', keypoints, height * split]);
  return encodeModel({ ...g.build(), operators });
}

/** Where the built-in landmark network's input is in the middle of DWPose's. */
const LEFT = (SIMCC.width - SIDE) / 2;
const TOP = (SIMCC.height - SIDE) / 2;

const MEAN = [123.675, 116.28, 103.53];
const DEVIATION = [58.395, 57.12, 57.375];

/**
 * Stands in for the published DWPose, whose weights the project does not have: its tensors around the built-in
 * landmark network. Finds the face in the middle of its input, if it is as large there as a pack of DWPose shows it.
 */
export async function faceFindingNetwork(): Promise<Uint8Array> {
  const weights = await faceApiWeights('landmarks');
  return simccNetwork((g, input) => {
    const middle = g.op('Slice', [
      input,
      g.ints([TOP, LEFT]),
      g.ints([TOP + SIDE, LEFT + SIDE]),
      g.ints([2, 3]),
    ]);
    const scaled = g.op('Mul', [middle, g.weights([1, 3, 1, 1], DEVIATION)]);
    const levels = g.op('Round', [g.op('Add', [scaled, g.weights([1, 3, 1, 1], MEAN)])]);
    const image = g.op('Cast', [g.op('Transpose', [levels], { perm: [0, 2, 3, 1] })], { to: 2 });
    const points = landmarkPoints(g, weights, image);
    const [x, y] = g.split(points, [1, 1], 2);
    return {
      x: scoresAt(g, x, LEFT, SIMCC.width * SIMCC.split),
      y: scoresAt(g, y, TOP, SIMCC.height * SIMCC.split),
    };
  }, 21);
}

/** Scores that are the higher the nearer a place is to the point: positions [n, 68, 1] → [n, 133, places]. */
function scoresAt(g: GraphBuilder, position: Value, offset: number, places: number): Value {
  const place = g.op('Mul', [g.op('Add', [g.op('Mul', [position, SIDE]), offset - 0.5]), SIMCC.split]);
  const all = g.weights(
    [1, 1, places],
    Array.from({ length: places }, (_, i) => i),
  );
  const distance = g.op('Abs', [g.op('Sub', [all, place])]);
  const scores = g.op('Sub', [places, distance]);
  // Body and feet before the face, hands after it.
  return g.op('Pad', [scores, g.ints([0, 23, 0, 0, 42, 0])]);
}
