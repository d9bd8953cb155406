import { MEL_BANDS, SEGMENT_FRAMES, WINDOW_STEPS } from '@lipsync/lipsync';
import { type Pack } from '../../open-pack';
import { modelFile, writePack } from '../../write-pack';
import { audioEncoderModel } from './audio-encoder';
import { decoderModel, encoderModel } from './autoencoder';
import { generatorModel } from './generator';
import { LATENT_CHANNELS, LATENT_SCALE, LATENT_SIDE, RESOLUTION } from './latent-blocks';
import { STATES, STEPS, WIDTH } from './speech-cues';

/**
 * Writes the built-in reference pack for the musetalk engine: graphs made of formulas instead of learned weights, with
 * the roles, tensors and dataflow of the official ones.
 */
export async function writeMusetalkPack(dir: string): Promise<Pack> {
  const models = {
    'whisper-encoder.onnx': audioEncoderModel(),
    'vae-encoder.onnx': encoderModel(),
    'unet.onnx': generatorModel(),
    'vae-decoder.onnx': decoderModel(),
  };
  const float = (name: string, dims: (number | string)[], range?: [number, number]) => ({
    name,
    dtype: 'float32' as const,
    dims,
    ...(range && { range }),
  });
  const image = float('image', ['batch', 3, RESOLUTION, RESOLUTION], [-1, 1]);
  const latent = float('latent', ['batch', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]);
  return writePack(
    dir,
    {
      format: 1,
      engine: 'musetalk',
      name: 'builtin-musetalk',
      version: '1.0.0',
      licence: { spdx: 'MIT', source: 'Graphs written by this project; no learned weights.' },
      providers: ['cpu'],
      roles: {
        whisper_encoder: {
          ...modelFile('whisper-encoder.onnx', models['whisper-encoder.onnx']),
          inputs: { mel: float('mel', [1, MEL_BANDS, SEGMENT_FRAMES], [-1.5, 1.5]) },
          outputs: { states: float('states', [1, STEPS, STATES, WIDTH]) },
          probe: { dims: {}, fill: { mel: 0.5 }, means: { states: 0.0427 }, tolerance: 1e-3 },
        },
        vae_encoder: {
          ...modelFile('vae-encoder.onnx', models['vae-encoder.onnx']),
          inputs: { image },
          outputs: { latent },
          probe: { dims: { batch: 1 }, fill: { image: 0.5 }, means: { latent: 0.5 }, tolerance: 1e-6 },
        },
        unet: {
          ...modelFile('unet.onnx', models['unet.onnx']),
          inputs: {
            latent: float('latent', ['batch', 2 * LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
            timestep: { name: 'timestep', dtype: 'int64', dims: [1] },
            audio: float('audio', ['batch', WINDOW_STEPS * STATES, WIDTH]),
            landmarks: float('landmarks', ['batch', 68, 2], [0, RESOLUTION]),
          },
          outputs: { latent: { ...latent, name: 'clean' } },
          // Landmarks in one point are no face: the picture must pass as it is.
          probe: {
            dims: { batch: 1 },
            fill: { latent: 0.1, audio: 0.5, landmarks: 128 },
            means: { latent: 0.1 },
            tolerance: 1e-4,
          },
        },
        vae_decoder: {
          ...modelFile('vae-decoder.onnx', models['vae-decoder.onnx']),
          inputs: { latent },
          outputs: { image },
          probe: { dims: { batch: 1 }, fill: { latent: 0.5 }, means: { image: 0.5 }, tolerance: 1e-6 },
        },
      },
      params: {
        resolution: RESOLUTION,
        latent: {
          channels: LATENT_CHANNELS,
          height: LATENT_SIDE,
          width: LATENT_SIDE,
          scale: LATENT_SCALE,
        },
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
