import { z } from 'zod';
import { audioSchema } from '../audio-params';
import { latentSchema } from '../latent-params';

/** Parameters that differ between musetalk packs (1.0, 1.5, distilled). The rest of the algorithm is code. */
export const musetalkParamsSchema = z.strictObject({
  /**
   * Side of the square face crop, pixels. A multiple of eight, because the kernel that cuts it processes eight at a
   * time.
   */
  resolution: z.int().positive().multipleOf(8),
  latent: latentSchema,
  audio: audioSchema.extend({
    /** Whether the caller adds the sinusoidal position code. */
    positionalEncoding: z.enum(['outside', 'inside']),
  }),
  /** The diffusion timestep that is passed to the network. */
  timestep: z.int().nonnegative(),
  /** Frames per call of the graphs. An incomplete batch is padded, so that the graphs always see one shape. */
  batch: z.int().positive(),
  crop: z.strictObject({
    /** How many pixels below the nose bridge's low point the generated half begins (`bbox_shift`); 0 in 1.5. */
    shift: z.int(),
    /** Room below the chin in pixels (`extra_margin`): 10 in 1.5, 0 in 1.0. */
    margin: z.int().nonnegative(),
  }),
  /** How the mask of the pasted face is derived from face parsing. Without a parser a polygon of landmarks is used. */
  mask: z.strictObject({
    mode: z.enum(['jaw', 'raw', 'neck']),
    /** Half-widths, at 512 pixels, of the central part that is not eroded after growing ('jaw' only). */
    leftCheek: z.int().min(0).max(256),
    rightCheek: z.int().min(0).max(256),
    /** Width of the blur as a fraction of the parsed square. */
    blur: z.number().positive().lt(1),
  }),
});

export type MusetalkParams = z.infer<typeof musetalkParamsSchema>;
