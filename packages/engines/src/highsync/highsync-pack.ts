import { modelFile } from '@lipsync/model-pack';
import { audioEncoderModel } from '../builtin/audio-encoder';
import { audioRole } from '../builtin/audio-role';
import { autoencoder } from '../builtin/autoencoder-roles';
import { floatTensor } from '../builtin/float-tensor';
import { LATENT_CHANNELS } from '../builtin/latent-planes';
import { predictionFactors } from '../builtin/prediction-factors';
import { STATES, WIDTH } from '../builtin/speech-cues';
import { type Pack, writePack } from '../packs';
import { WINDOW_STEPS } from '../speech/whisper-window';
import { GUIDANCE, MASK, OVERLAP, RESOLUTION, SCHEDULE, SEED, STRETCH, WINDOW } from './builtin-params';
import { denoisingUnetModel, unconditionalUnetModel } from './denoising-unet';
import { LATENT_SIDE, referenceUnetModel, TOKENS } from './reference-unet';

const REFERENCE = 'reference-unet.onnx';
const CONDITIONAL = 'denoising-unet.onnx';
const UNCONDITIONAL = 'denoising-unet-unconditional.onnx';

/**
 * Writes the built-in reference pack for the highsync engine: graphs made of formulas instead of learned weights, with
 * the roles, the dataflow and the schedule of the official ones.
 */
export async function writeHighsyncPack(dir: string): Promise<Pack> {
  const { models: codecModels, roles: codecRoles, latent } = autoencoder(RESOLUTION);
  const models = {
    ...codecModels,
    'whisper-encoder.onnx': audioEncoderModel(),
    [REFERENCE]: referenceUnetModel(),
    [CONDITIONAL]: denoisingUnetModel(SCHEDULE, GUIDANCE),
    [UNCONDITIONAL]: unconditionalUnetModel(SCHEDULE),
  };
  const window = [1, LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE];
  const inputs = {
    latent: floatTensor('latent', window),
    timestep: { name: 'timestep', dtype: 'int64' as const, dims: [1] },
    audio: floatTensor('audio', [1, WINDOW, WINDOW_STEPS * STATES, WIDTH]),
  };
  const outputs = { prediction: floatTensor('prediction', window) };
  return writePack(
    dir,
    {
      format: 1,
      engine: 'highsync',
      name: 'builtin-highsync',
      version: '1.0.0',
      licence: { spdx: 'MIT', source: 'Graphs written by this project; no learned weights.' },
      providers: ['cpu'],
      roles: {
        whisper_encoder: audioRole('whisper-encoder.onnx', models['whisper-encoder.onnx']),
        ...codecRoles,
        reference_unet: {
          ...modelFile(REFERENCE, models[REFERENCE]),
          inputs: { latent: floatTensor('latent', ['frames', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]) },
          outputs: { bank_0: floatTensor('bank_0', ['frames', TOKENS, LATENT_CHANNELS]) },
          probe: { dims: { frames: 2 }, fill: { latent: 0.1 }, means: { bank_0: 0.1 }, tolerance: 1e-6 },
        },
        denoising_unet: {
          ...modelFile(CONDITIONAL, models[CONDITIONAL]),
          inputs: {
            ...inputs,
            bank_0: floatTensor('bank_0', [WINDOW, TOKENS, LATENT_CHANNELS]),
            landmarks: floatTensor('landmarks', [1, WINDOW, 68, 2], [0, RESOLUTION]),
          },
          outputs,
          probe: probe({ bank_0: BANK, audio: 0.5, landmarks: RESOLUTION / 2 }, BANK / GUIDANCE),
        },
        denoising_unet_unconditional: {
          ...modelFile(UNCONDITIONAL, models[UNCONDITIONAL]),
          inputs,
          outputs,
          probe: probe({}, 0),
        },
      },
      params: {
        resolution: RESOLUTION,
        latent,
        audio: { whisper: 'openai', states: STATES, width: WIDTH },
        window: WINDOW,
        overlap: OVERLAP,
        schedule: SCHEDULE,
        guidance: GUIDANCE,
        seed: SEED,
        mask: MASK,
        stretch: STRETCH,
      },
    },
    models,
  );
}

const BANK = -0.2;

/** Landmarks that all lie in one point mean no face: the clean latent must be that of the bank unchanged. */
function probe(fill: Readonly<Record<string, number>>, clean: number) {
  const [latent, timestep] = [0.1, 499];
  const factors = predictionFactors(SCHEDULE);
  const prediction = (factors.noisy[timestep] ?? NaN) * latent + (factors.clean[timestep] ?? NaN) * clean;
  return { dims: {}, fill: { latent, timestep, ...fill }, means: { prediction }, tolerance: 1e-4 };
}
