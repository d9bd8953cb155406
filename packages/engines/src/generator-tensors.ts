import { type ExpectedRole, type ExpectedTensor, expectFloats, type Size } from '@lipsync/model-pack';
import { type AudioParams } from './audio-params';
import { type LatentParams } from './latent-params';
import { SEGMENT_FRAMES } from './speech/log-mel';
import { MEL_BANDS } from './speech/mel-filters';
import { WINDOW_STEPS } from './speech/whisper-window';

/** The audio encoder's two mel frames per step. */
const STEPS = SEGMENT_FRAMES / 2;

/** Roles that every engine's pack has, with `pictures` per call of the autoencoder. */
export function generatorTensors(
  { resolution, latent, audio }: GeneratorParams,
  pictures: number,
): Record<'whisper_encoder' | 'vae_encoder' | 'vae_decoder', ExpectedRole> {
  const { channels, height, width } = latent;
  const image = expectFloats(pictures, 3, resolution, resolution);
  return {
    whisper_encoder: {
      inputs: { mel: expectFloats(1, MEL_BANDS, SEGMENT_FRAMES) },
      outputs: { states: expectFloats(1, STEPS, audio.states, audio.width) },
    },
    vae_encoder: {
      inputs: { image },
      // The log-variance may follow the mean.
      outputs: { latent: expectFloats(pictures, { atLeast: channels }, height, width) },
    },
    vae_decoder: { inputs: { latent: expectFloats(pictures, channels, height, width) }, outputs: { image } },
  };
}

interface GeneratorParams {
  readonly resolution: number;
  readonly latent: LatentParams;
  readonly audio: Pick<AudioParams, 'states' | 'width'>;
}

/** The audio input of the generators, one window per frame. */
export function heard({ states, width }: GeneratorParams['audio'], ...frames: Size[]): ExpectedTensor {
  return expectFloats(...frames, WINDOW_STEPS * states, width);
}
