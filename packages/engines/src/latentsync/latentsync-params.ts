import { z } from 'zod';
import { audioSchema } from '../audio-params';
import { scheduleSchema } from '../diffusion/schedule-params';
import { latentSchema } from '../latent-params';

/** Parameters that differ between latentsync packs (1.5 at 256 px, 1.6 at 512 px, distilled). */
export const latentsyncParamsSchema = z.strictObject({
  /** Side of the square face crop, pixels. */
  resolution: z.int().positive(),
  latent: latentSchema,
  audio: audioSchema,
  /** Frames that the network sees at once. The last window of a stretch may be shorter. */
  window: z.int().positive(),
  schedule: scheduleSchema,
  /** Classifier-free guidance. With 1 the network runs only once per step. */
  guidance: z.number().min(1),
  /** Seed of the one noise image that all frames of a video share. */
  seed: z.int().nonnegative(),
  /**
   * The generated part of the aligned face: rows of a square of `size` pixels as [row, first column, last column],
   * inclusive. A row may occur more than once.
   */
  mask: z
    .strictObject({
      size: z.int().positive(),
      spans: z.array(z.tuple([z.int().nonnegative(), z.int().nonnegative(), z.int().nonnegative()])).min(1),
    })
    .refine(
      ({ size, spans }) => spans.every(([row, first, last]) => row < size && first <= last && last < size),
      'rows of the mask lie inside its square',
    ),
});

export type LatentsyncParams = z.infer<typeof latentsyncParamsSchema>;
