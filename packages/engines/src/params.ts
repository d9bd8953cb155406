import { type ExpectedRole, type ExpectedTensor, expectFloats, type Size } from '@lipsync/model-pack';
import { z } from 'zod';
import { MEL_BANDS, SEGMENT_FRAMES } from './speech/log-mel';
import { WINDOW_STEPS } from './speech/windows';

/** The audio encoder that a pack was trained with. */
export const audioSchema = z.strictObject({
  /**
   * 'hf': last state after the final LayerNorm, waveform padded to 30 s. 'openai': last state before the final
   * LayerNorm, mel padded.
   */
  whisper: z.enum(['hf', 'openai']),
  /** Hidden states stacked per 20 ms step, and their width. */
  states: z.int().positive(),
  width: z.int().positive(),
});

export type AudioParams = z.infer<typeof audioSchema>;

/**
 * The latent of one frame. `scale` multiplies the encoder's output and divides the decoder's input; 1 if the graphs do
 * that themselves. An encoder with more output channels than these puts the latent first (mean, then log-variance).
 */
export const latentSchema = z.strictObject({
  channels: z.int().positive(),
  height: z.int().positive(),
  width: z.int().positive(),
  scale: z.number().positive(),
});

export type LatentParams = z.infer<typeof latentSchema>;

/**
 * The fewest and the most frames per second at which a network may see a clip. Frames that come faster or slower are not
 * all generated, or more than they are, see `choosePace`.
 */
export const ratesSchema = z
  .tuple([z.number().positive(), z.number().positive()])
  .refine(([fewest, most]) => fewest <= most, 'the fewest frames come first');

/** For a network that sees frames in sequence, learned at 25 frames per second. */
export const USUAL_RATES: z.infer<typeof ratesSchema> = [24, 30];

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
  readonly audio: AudioParams;
}

/** The audio input of the generators, one window per frame. */
export function speechWindows(
  { states, width }: GeneratorParams['audio'],
  ...frames: Size[]
): ExpectedTensor {
  return expectFloats(...frames, WINDOW_STEPS * states, width);
}
