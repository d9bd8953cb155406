import { encodeModel, GraphBuilder, type Value } from '@lipsync/model-pack';
import { BLOCK, LATENT_CHANNELS } from '../builtin/latent-planes';
import { mouthPose } from '../builtin/mouth-pose';
import { predict } from '../builtin/predict';
import { predictionFactors } from '../builtin/prediction-factors';
import { redrawRegion } from '../builtin/redraw-region';
import { type Region } from '../builtin/region';
import { STATES, WIDTH } from '../builtin/speech-cues';
import { type ScheduleParams } from '../diffusion/schedule-params';
import { WINDOW_STEPS } from '../speech/whisper-window';
import { RESOLUTION } from './builtin-params';

/** Noisy, mask, masked and reference. */
export const INPUT_CHANNELS = 3 * LATENT_CHANNELS + 1;
/** Where the mouth can be in an aligned face, as fractions of its side. */
const MOUTH = { top: 14 / 32, bottom: 30 / 32, left: 4 / 32, right: 28 / 32 };

/**
 * Noisy latents with mask, masked and reference latents beside them, timestep, audio windows and landmarks → the noise.
 * The clean latents are the reference with the mouth that the audio calls for or, without any audio, 0. `resolution` is
 * the side of the aligned faces, pixels.
 */
export function unet3dModel(
  schedule: ScheduleParams,
  guidance: number,
  resolution: number = RESOLUTION,
): Uint8Array {
  const side = resolution / BLOCK;
  const g = new GraphBuilder('noise_of_audio_driven_lips');
  const latent = g.input('latent', 'float32', [1, INPUT_CHANNELS, 'frames', side, side]);
  const timestep = g.input('timestep', 'int64', [1]);
  const audio = g.input('audio', 'float32', ['frames', WINDOW_STEPS * STATES, WIDTH]);
  const landmarks = g.input('landmarks', 'float32', ['frames', 68, 2]);

  const films = g.op('Squeeze', [latent, g.ints([0])]);
  const film = (channel: number): Value =>
    g.op('Slice', [films, g.ints([channel]), g.ints([channel + LATENT_CHANNELS]), g.ints([0])]);
  const prediction = predict(g, timestep, predictionFactors(schedule), guidance);
  const unconditional = prediction.ofNoisy(film(0));
  const conditional = (): Value => {
    const reference = { latents: film(INPUT_CHANNELS - LATENT_CHANNELS), side };
    const clean = redrawRegion(g, reference, landmarks, mouthPose(g, audio, 'none'), region(side));
    return g.op('Add', [unconditional, prediction.ofClean(clean)]);
  };
  const loudest = g.op('ReduceMax', [g.op('Abs', [audio])], { keepdims: 0 });
  const predicted = g.choose(
    g.op('Greater', [loudest, 0]),
    { dtype: 'float32', dims: [LATENT_CHANNELS, 'frames', side, side] },
    conditional,
    () => unconditional,
  );
  g.output('prediction', g.op('Unsqueeze', [predicted, g.ints([0])]), 'float32', [
    1,
    LATENT_CHANNELS,
    'frames',
    side,
    side,
  ]);
  return encodeModel(g.build());
}

function region(side: number): Region {
  const { top, bottom, left, right } = MOUTH;
  return { top: top * side, bottom: bottom * side, left: left * side, right: right * side };
}
