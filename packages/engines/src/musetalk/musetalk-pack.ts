import { modelFile } from '@lipsync/model-pack';
import { audioEncoderModel } from '../builtin/audio-encoder';
import { audioRole } from '../builtin/audio-role';
import { autoencoder } from '../builtin/autoencoder-roles';
import { floatTensor } from '../builtin/float-tensor';
import { LATENT_CHANNELS } from '../builtin/latent-planes';
import { STATES, WIDTH } from '../builtin/speech-cues';
import { type Pack, writePack } from '../packs';
import { WINDOW_STEPS } from '../speech/whisper-window';
import { generatorModel, LATENT_SIDE, RESOLUTION } from './generator';

/**
 * Writes the built-in reference pack for the musetalk engine: graphs made of formulas instead of learned weights, with
 * the roles, tensors and dataflow of the official ones.
 */
export async function writeMusetalkPack(dir: string): Promise<Pack> {
  const { models: codecModels, roles: codecRoles, latent } = autoencoder(RESOLUTION);
  const models = {
    ...codecModels,
    'whisper-encoder.onnx': audioEncoderModel(),
    'unet.onnx': generatorModel(),
  };
  return writePack(
    dir,
    {
      format: 1,
      engine: 'musetalk',
      name: 'builtin-musetalk',
      version: '1.1.0',
      licence: { spdx: 'MIT', source: 'Graphs written by this project; no learned weights.' },
      providers: ['cpu'],
      roles: {
        whisper_encoder: audioRole('whisper-encoder.onnx', models['whisper-encoder.onnx']),
        ...codecRoles,
        unet: {
          ...modelFile('unet.onnx', models['unet.onnx']),
          inputs: {
            latent: floatTensor('latent', ['batch', 2 * LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
            timestep: { name: 'timestep', dtype: 'int64', dims: [1] },
            audio: floatTensor('audio', ['batch', WINDOW_STEPS * STATES, WIDTH]),
            landmarks: floatTensor('landmarks', ['batch', 68, 2], [0, RESOLUTION]),
          },
          outputs: {
            latent: floatTensor('clean', ['batch', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
          },
          // Landmarks that all lie in one point mean no face: the picture must pass unchanged.
          probe: {
            dims: { batch: 1 },
            fill: { latent: 0.1, audio: 0.5, landmarks: 128 },
            means: { latent: 0.1 },
            tolerance: 1e-4,
          },
        },
      },
      params: {
        resolution: RESOLUTION,
        latent,
        audio: { whisper: 'hf', states: STATES, width: WIDTH, positionalEncoding: 'outside' },
        timestep: 0,
        batch: 8,
        crop: { shift: 0, margin: 10 },
        mask: { mode: 'jaw', leftCheek: 90, rightCheek: 90, blur: 0.05 },
      },
    },
    models,
  );
}
