import { modelFile } from '@lipsync/model-pack';
import { type HighsyncManifest } from '../highsync/highsync-manifest';
import { type HighsyncParams } from '../highsync/highsync-params';
import { openPackFor, type Pack, writePack } from '../packs';
import {
  AUDIO,
  decoderModel,
  denoisingModel,
  encoderModel,
  LATENT,
  referenceModel,
  SCHEDULE,
  SIDE,
  TENSORS,
  whisperModel,
  WINDOW,
} from './highsync-graphs';

/** The cells that the pack below generates. */
export const MASK = { top: 3, bottom: 6, left: 1, right: 6 };

/**
 * Writes a highsync pack whose networks know the answer: SHARES of the frame's clean latent, its audio and its
 * landmarks. Any sampler that follows the schedule must end there.
 */
export async function writeHighsyncPack(
  dir: string,
  changes: Partial<Pick<HighsyncParams, 'guidance' | 'stretch'>> & { steps?: number } = {},
): Promise<Pack<HighsyncManifest>> {
  const { steps = 4, guidance = 3.5, stretch = 48 } = changes;
  const models = {
    'whisper.onnx': whisperModel(),
    'encoder.onnx': encoderModel(),
    'reference.onnx': referenceModel(),
    'conditional.onnx': denoisingModel(true, guidance),
    'unconditional.onnx': denoisingModel(false, guidance),
    'decoder.onnx': decoderModel(),
  };
  const {
    mel,
    states,
    image,
    latent,
    moments,
    bank_0,
    bank_1,
    window,
    timestep,
    audio,
    landmarks,
    prediction,
  } = TENSORS;
  const ofWindow = (bank: typeof bank_0) => ({ ...bank, dims: [WINDOW, ...bank.dims.slice(1)] });
  const manifest: HighsyncManifest = {
    format: 1,
    engine: 'highsync',
    name: 'analytic-highsync',
    version: '1.0.0',
    licence: { spdx: 'MIT', source: 'Made for tests.' },
    providers: ['cpu'],
    roles: {
      whisper_encoder: {
        ...modelFile('whisper.onnx', models['whisper.onnx']),
        inputs: { mel },
        outputs: { states },
      },
      vae_encoder: {
        ...modelFile('encoder.onnx', models['encoder.onnx']),
        inputs: { image },
        outputs: { latent: moments },
      },
      reference_unet: {
        ...modelFile('reference.onnx', models['reference.onnx']),
        inputs: { latent },
        outputs: { bank_0, bank_1 },
      },
      denoising_unet: {
        ...modelFile('conditional.onnx', models['conditional.onnx']),
        inputs: {
          latent: window,
          timestep,
          audio,
          landmarks,
          bank_0: ofWindow(bank_0),
          bank_1: ofWindow(bank_1),
        },
        outputs: { prediction },
      },
      ...(guidance > 1 && {
        denoising_unet_unconditional: {
          ...modelFile('unconditional.onnx', models['unconditional.onnx']),
          inputs: { latent: window, timestep, audio },
          outputs: { prediction },
        },
      }),
      vae_decoder: {
        ...modelFile('decoder.onnx', models['decoder.onnx']),
        inputs: { latent },
        outputs: { image },
      },
    },
    params: {
      resolution: SIDE,
      latent: LATENT,
      audio: AUDIO,
      window: WINDOW,
      overlap: 3,
      schedule: { ...SCHEDULE, steps },
      guidance,
      seed: 42,
      mask: MASK,
      stretch,
    },
  };
  await writePack(dir, manifest, models);
  return openPackFor('highsync', dir);
}
