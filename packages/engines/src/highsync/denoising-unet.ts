import { encodeModel, GraphBuilder, type Value } from '@lipsync/model-pack';
import { LATENT_CHANNELS } from '../builtin/latent-planes';
import { mouthPose } from '../builtin/mouth-pose';
import { predict } from '../builtin/predict';
import { predictionFactors } from '../builtin/prediction-factors';
import { redrawRegion } from '../builtin/redraw-region';
import { STATES, WIDTH } from '../builtin/speech-cues';
import { type ScheduleParams } from '../diffusion/schedule-params';
import { WINDOW_STEPS } from '../speech/whisper-window';
import { MASK, WINDOW } from './builtin-params';
import { LATENT_SIDE, TOKENS } from './reference-unet';

/** Only the masked region can change. */
const GENERATED = { top: MASK.top, bottom: MASK.bottom + 1, left: MASK.left, right: MASK.right + 1 };

/** Noisy latent, timestep and audio, as inputs of both networks. */
function inputs(g: GraphBuilder): { latent: Value; timestep: Value; audio: Value } {
  return {
    latent: g.input('latent', 'float32', [1, LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE]),
    timestep: g.input('timestep', 'int64', [1]),
    audio: g.input('audio', 'float32', [1, WINDOW, WINDOW_STEPS * STATES, WIDTH]),
  };
}

function output(g: GraphBuilder, prediction: Value): void {
  g.output('prediction', prediction, 'float32', [1, LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE]);
}

/**
 * Noisy latents of a window, timestep, audio windows, bank and landmarks → v, where the clean latents are those of the
 * bank with the mouth that the audio calls for.
 */
export function denoisingUnetModel(schedule: ScheduleParams, guidance: number): Uint8Array {
  const g = new GraphBuilder('velocity_of_audio_driven_lips');
  const { latent, timestep, audio } = inputs(g);
  const bank = g.input('bank_0', 'float32', [WINDOW, TOKENS, LATENT_CHANNELS]);
  const landmarks = g.input('landmarks', 'float32', [1, WINDOW, 68, 2]);

  const channels = g.op('Transpose', [bank], { perm: [2, 0, 1] });
  const latents = g.op('Reshape', [channels, g.ints([LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE])]);
  const pose = mouthPose(g, audio, 'none');
  const points = g.op('Squeeze', [landmarks, g.ints([0])]);
  const clean = redrawRegion(g, { latents, side: LATENT_SIDE }, points, pose, GENERATED);
  const prediction = predict(g, timestep, predictionFactors(schedule), guidance);
  output(
    g,
    g.op('Add', [prediction.ofNoisy(latent), prediction.ofClean(g.op('Unsqueeze', [clean, g.ints([0])]))]),
  );
  return encodeModel(g.build());
}

/** Noisy latents of a window and timestep → v, where the clean latents are 0. Guidance leads away from this. */
export function unconditionalUnetModel(schedule: ScheduleParams): Uint8Array {
  const g = new GraphBuilder('velocity_of_nothing');
  const { latent, timestep } = inputs(g);
  output(g, predict(g, timestep, predictionFactors(schedule), 1).ofNoisy(latent));
  return encodeModel(g.build());
}
