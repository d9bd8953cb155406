import { modelFile } from '@lipsync/model-pack';
import { audioEncoderModel } from '../builtin/audio-encoder';
import { audioRole } from '../builtin/audio-role';
import { autoencoder } from '../builtin/autoencoder-roles';
import { floatTensor } from '../builtin/float-tensor';
import { BLOCK, LATENT_CHANNELS } from '../builtin/latent-planes';
import { predictionFactors } from '../builtin/prediction-factors';
import { STATES, WIDTH } from '../builtin/speech-cues';
import { type Pack, writePack } from '../packs';
import { WINDOW_STEPS } from '../speech/whisper-window';
import { faceMask, GUIDANCE, RESOLUTION, SCHEDULE, SEED, WINDOW } from './builtin-params';
import { INPUT_CHANNELS, unet3dModel } from './unet3d';

/**
 * Writes the built-in reference pack for the latentsync engine: graphs made of formulas instead of learned weights,
 * with the roles, the dataflow and the schedule of the official ones. `resolution` is the side of the aligned faces in
 * pixels; the official weights exist for 256 and for 512.
 */
export async function writeLatentsyncPack(dir: string, resolution: number = RESOLUTION): Promise<Pack> {
  const { models: codecModels, roles: codecRoles, latent } = autoencoder(resolution);
  const side = resolution / BLOCK;
  const models = {
    ...codecModels,
    'whisper-encoder.onnx': audioEncoderModel(),
    'unet3d.onnx': unet3dModel(SCHEDULE, GUIDANCE, resolution),
  };
  return writePack(
    dir,
    {
      format: 1,
      engine: 'latentsync',
      name: 'builtin-latentsync',
      version: '1.0.0',
      licence: { spdx: 'MIT', source: 'Graphs written by this project; no learned weights.' },
      providers: ['cpu'],
      roles: {
        whisper_encoder: audioRole('whisper-encoder.onnx', models['whisper-encoder.onnx']),
        ...codecRoles,
        unet3d: {
          ...modelFile('unet3d.onnx', models['unet3d.onnx']),
          inputs: {
            latent: floatTensor('latent', [1, INPUT_CHANNELS, 'frames', side, side]),
            timestep: { name: 'timestep', dtype: 'int64', dims: [1] },
            audio: floatTensor('audio', ['frames', WINDOW_STEPS * STATES, WIDTH]),
            landmarks: floatTensor('landmarks', ['frames', 68, 2], [0, resolution]),
          },
          outputs: {
            prediction: floatTensor('prediction', [1, LATENT_CHANNELS, 'frames', side, side]),
          },
          probe: probe(resolution),
        },
      },
      params: {
        resolution,
        latent,
        audio: { whisper: 'openai', states: STATES, width: WIDTH },
        window: WINDOW,
        schedule: SCHEDULE,
        guidance: GUIDANCE,
        seed: SEED,
        mask: faceMask(),
      },
    },
    models,
  );
}

/** Landmarks that all lie in one point mean no face: the clean latent must be the reference unchanged. */
function probe(resolution: number) {
  const [value, step] = [0.1, 501];
  const { noisy, clean } = predictionFactors(SCHEDULE);
  const prediction = value * ((noisy[step] ?? NaN) + (clean[step] ?? NaN) / GUIDANCE);
  return {
    dims: { frames: 2 },
    fill: { latent: value, timestep: step, audio: 0.5, landmarks: resolution / 2 },
    means: { prediction },
    tolerance: 1e-4,
  };
}
