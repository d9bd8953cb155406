import { encodeModel, GraphBuilder } from '@lipsync/model-pack';
import { drawMouth } from '../builtin/draw-mouth';
import { BLOCK, LATENT_CHANNELS } from '../builtin/latent-planes';
import { mouthPose } from '../builtin/mouth-pose';
import { STATES, WIDTH } from '../builtin/speech-cues';
import { WINDOW_STEPS } from '../speech/whisper-window';

/** Side of the face crop, pixels. */
export const RESOLUTION = 256;
export const LATENT_SIDE = RESOLUTION / BLOCK;
const HALF = LATENT_SIDE / 2;
/** The generated part of the crop: everything below the middle. */
const LOWER_HALF = { top: HALF, bottom: LATENT_SIDE, left: 0, right: LATENT_SIDE };

/**
 * Latents of the masked and of the whole crop, timestep, audio window and landmarks → clean latent: the upper half
 * unchanged, the lower half redrawn with the mouth that the audio calls for.
 */
export function generatorModel(): Uint8Array {
  const g = new GraphBuilder('audio_driven_lips');
  const latent = g.input('latent', 'float32', ['batch', 2 * LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]);
  g.input('timestep', 'int64', [1]);
  const audio = g.input('audio', 'float32', ['batch', WINDOW_STEPS * STATES, WIDTH]);
  const landmarks = g.input('landmarks', 'float32', ['batch', 68, 2]);

  const part = (channel: number, row: number) =>
    g.op('Slice', [
      latent,
      g.ints([channel, row]),
      g.ints([channel + LATENT_CHANNELS, row + HALF]),
      g.ints([1, 2]),
    ]);
  const upper = part(0, 0);
  const reference = part(LATENT_CHANNELS, HALF);
  const lower = drawMouth(g, reference, landmarks, mouthPose(g, audio, 'added'), LOWER_HALF);
  g.output('clean', g.op('Concat', [upper, lower], { axis: 2 }), 'float32', [
    'batch',
    LATENT_CHANNELS,
    LATENT_SIDE,
    LATENT_SIDE,
  ]);
  return encodeModel(g.build());
}
