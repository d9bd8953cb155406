import { z } from 'zod';
import { audioSchema } from './audio-params';
import { latentSchema } from './latent-params';
import { scheduleSchema } from './schedule-params';

/** What differs between highsync packs. */
export const highsyncParamsSchema = z
  .strictObject({
    /** Side of the square face crop, pixels: the kernel that cuts it works on eight at a time. */
    resolution: z.int().positive().multipleOf(8),
    latent: latentSchema,
    audio: audioSchema,
    /** Frames that the network sees at once, always as many: short stretches are padded. */
    window: z.int().positive(),
    /** Frames that neighbouring windows share. */
    overlap: z.int().nonnegative(),
    schedule: scheduleSchema,
    /** Classifier-free guidance; 1 asks the network only once per step. */
    guidance: z.number().min(1),
    /** Of the noise, which is another one for every frame. */
    seed: z.int().nonnegative(),
    /** Cells of the latent that are generated, borders included. */
    mask: z.strictObject({
      top: z.int().nonnegative(),
      bottom: z.int().nonnegative(),
      left: z.int().nonnegative(),
      right: z.int().nonnegative(),
    }),
    /** Frames that are denoised together at most: bounds memory, at the price of a seam where a longer stretch is cut. */
    stretch: z.int().positive(),
  })
  .refine(({ window, overlap }) => overlap < window, 'windows overlap by less than a window')
  .refine(
    ({ mask, latent }) =>
      mask.top <= mask.bottom &&
      mask.left <= mask.right &&
      mask.bottom < latent.height &&
      mask.right < latent.width,
    'the rectangle lies inside the latent',
  )
  .refine(({ stretch, window }) => stretch >= window, 'a stretch holds at least a window');

export type HighsyncParams = z.infer<typeof highsyncParamsSchema>;
