import { MEL_BANDS, SEGMENT_FRAMES, WINDOW_STEPS } from '@lipsync/lipsync';
import { type AudioParams } from './audio-params';
import { type ExpectedRole, type ExpectedTensor, floats, type Size } from './fitting-tensors';
import { type LatentParams } from './latent-params';

/** The audio encoder's two mel frames per step. */
const STEPS = SEGMENT_FRAMES / 2;

/** Roles that every engine's pack has, with `pictures` per call of the autoencoder. */
export function generatorTensors(
  { resolution, latent, audio }: GeneratorParams,
  pictures: number,
): Record<'whisper_encoder' | 'vae_encoder' | 'vae_decoder', ExpectedRole> {
  const { channels, height, width } = latent;
  const image = floats(pictures, 3, resolution, resolution);
  return {
    whisper_encoder: {
      inputs: { mel: floats(1, MEL_BANDS, SEGMENT_FRAMES) },
      outputs: { states: floats(1, STEPS, audio.states, audio.width) },
    },
    vae_encoder: {
      inputs: { image },
      // The log-variance may follow the mean.
      outputs: { latent: floats(pictures, { atLeast: channels }, height, width) },
    },
    vae_decoder: { inputs: { latent: floats(pictures, channels, height, width) }, outputs: { image } },
  };
}

interface GeneratorParams {
  readonly resolution: number;
  readonly latent: LatentParams;
  readonly audio: Pick<AudioParams, 'states' | 'width'>;
}

/** The audio input of the generators, one window per frame. */
export function heard({ states, width }: GeneratorParams['audio'], ...frames: Size[]): ExpectedTensor {
  return floats(...frames, WINDOW_STEPS * states, width);
}
