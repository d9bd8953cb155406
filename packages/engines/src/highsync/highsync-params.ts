import { z } from 'zod';
import { audioSchema } from '../audio-params';
import { scheduleSchema } from '../diffusion/schedule-params';
import { latentSchema } from '../latent-params';

/** Parameters that differ between highsync packs. */
export const highsyncParamsSchema = z
  .strictObject({
    /**
     * Side of the square face crop, pixels. A multiple of eight, because the kernel that cuts it processes eight at a
     * time.
     */
    resolution: z.int().positive().multipleOf(8),
    latent: latentSchema,
    audio: audioSchema,
    /** Frames that the network sees at once. The number is fixed, so short stretches are padded. */
    window: z.int().positive(),
    /** Frames that neighbouring windows share. */
    overlap: z.int().nonnegative(),
    schedule: scheduleSchema,
    /** Classifier-free guidance. With 1 the network runs only once per step. */
    guidance: z.number().min(1),
    /** Seed of the noise, which differs for every frame. */
    seed: z.int().nonnegative(),
    /** Generated cells of the latent, bounds included. */
    mask: z.strictObject({
      top: z.int().nonnegative(),
      bottom: z.int().nonnegative(),
      left: z.int().nonnegative(),
      right: z.int().nonnegative(),
    }),
    /**
     * Maximum number of frames that are denoised together. Bounds memory, at the price of a seam where a longer stretch
     * is cut.
     */
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
