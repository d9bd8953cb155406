import { z } from 'zod';

/** What differs between musetalk packs; everything else about the algorithm is code. */
export const musetalkParamsSchema = z.strictObject({
  /** Side of the square face crop, pixels. */
  resolution: z.int().positive(),
  /**
   * One frame's latent. `scale` multiplies the encoder's output and divides the decoder's input; 1 where the graphs do
   * it themselves. An encoder with more channels than these puts the latent first (mean, then log-variance).
   */
  latent: z.strictObject({
    channels: z.int().positive(),
    height: z.int().positive(),
    width: z.int().positive(),
    scale: z.number().positive(),
  }),
  audio: z.strictObject({
    /** 'hf': last state after the final LayerNorm, waveform padded to 30 s. 'openai': before it, mel padded. */
    whisper: z.enum(['hf', 'openai']),
    /** Hidden states stacked per 20 ms step, and their width. */
    states: z.int().positive(),
    width: z.int().positive(),
    /** Whether the sinusoidal position code is added by the caller. */
    positionalEncoding: z.enum(['outside', 'inside']),
  }),
  /** The diffusion time that the network is asked for. */
  timestep: z.int().nonnegative(),
});

export type MusetalkParams = z.infer<typeof musetalkParamsSchema>;
