import { encodeModel, GraphBuilder, type Value } from '../../onnx';
import { arithmetic, type Arithmetic } from './arithmetic';
import { type FaceAxes, faceAxes, ROWS } from './face-axes';
import {
  fromBlocks,
  LATENT_CHANNELS,
  LATENT_SCALE,
  LATENT_SIDE,
  RESOLUTION,
  toBlocks,
} from './latent-blocks';
import { lipLines } from './lip-lines';
import { lipWarp } from './lip-warp';
import { mouthInterior } from './mouth-interior';
import { mouthPose } from './mouth-pose';
import { STATES, WIDTH } from './speech-cues';
import { WINDOW_STEPS } from '@lipsync/lipsync';

/**
 * Latents of the masked and of the whole crop, timestep, audio window and landmarks → clean latent: the upper half as it
 * came in, the lower half redrawn with the mouth that the audio asks for.
 */
export function generatorModel(): Uint8Array {
  const g = new GraphBuilder('audio_driven_lips');
  const m = arithmetic(g);
  const latent = g.input('latent', 'float32', ['batch', 2 * LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]);
  g.input('timestep', 'int64', [1]);
  const audio = g.input('audio', 'float32', ['batch', WINDOW_STEPS * STATES, WIDTH]);
  const landmarks = g.input('landmarks', 'float32', ['batch', 68, 2]);

  const [masked, reference] = g.multi('Split', [latent, g.ints([LATENT_CHANNELS, LATENT_CHANNELS])], 2, {
    axis: 1,
  });
  if (masked === undefined || reference === undefined) throw new RangeError('two latents expected');
  const image = fromBlocks(g, reference);
  const axes = faceAxes(g, landmarks);
  const pose = mouthPose(g, audio);
  const lines = lipLines(g, axes, pose);
  const warp = lipWarp(g, axes, lines, pose);

  const warped = sample(g, m, image, axes, warp.fromU, warp.fromV, ROWS, RESOLUTION);
  const interior = mouthInterior(g, axes, lines, warp, skinColour(g, m, image, axes));
  const rows = (value: Value, channels: number): Value =>
    g.op('Reshape', [value, g.ints([-1, channels, ROWS, RESOLUTION])]);
  const inside = m.mul(m.sub(m.mul(interior.colour, 2), 1), LATENT_SCALE);
  const lower = m.mix(warped, rows(inside, 3), rows(interior.cover, 1));

  const upper = g.op('Slice', [masked, g.ints([0]), g.ints([LATENT_SIDE / 2]), g.ints([2])]);
  g.output('clean', g.op('Concat', [upper, toBlocks(g, lower)], { axis: 2 }), 'float32', [
    'batch',
    LATENT_CHANNELS,
    LATENT_SIDE,
    LATENT_SIDE,
  ]);
  return encodeModel(g.build());
}

/** Reads the crop at face coordinates [batch, 1, height·width] → [batch, 3, height, width]. */
function sample(
  g: GraphBuilder,
  m: Arithmetic,
  image: Value,
  axes: FaceAxes,
  u: Value,
  v: Value,
  height: number,
  width: number,
): Value {
  const pixels = m.add(axes.centre, m.mul(axes.along, u), m.mul(axes.down, v));
  const unit = m.sub(m.mul(pixels, 2 / RESOLUTION), 1);
  const points = g.op('Transpose', [unit], { perm: [0, 2, 1] });
  const grid = g.op('Reshape', [points, g.ints([-1, height, width, 2])]);
  return g.op('GridSample', [image, grid], { mode: 'linear', padding_mode: 'border', align_corners: 0 });
}

/** Mean colour of the skin beside and below the mouth, [batch, 3, 1] in [0, 1]. */
function skinColour(g: GraphBuilder, m: Arithmetic, image: Value, axes: FaceAxes): Value {
  const spots = [
    [-1.5, 0.1],
    [-1.4, -0.5],
    [1.5, 0.1],
    [1.4, -0.5],
    [-0.3, 1.15],
    [0.3, 1.15],
  ] as const;
  const zero = m.mul(axes.downLength, 0);
  const at = (index: 0 | 1): Value =>
    m.add(
      zero,
      g.weights(
        [1, 1, spots.length],
        spots.map((spot) => spot[index]),
      ),
    );
  const colours = sample(g, m, image, axes, at(0), at(1), 1, spots.length);
  const mean = g.op('ReduceMean', [g.op('Reshape', [colours, g.ints([-1, 3, spots.length])]), g.ints([2])]);
  return m.clamp(m.mul(m.add(m.div(mean, LATENT_SCALE), 1), 0.5), 0.05, 1);
}
