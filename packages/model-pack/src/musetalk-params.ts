import { z } from 'zod';
import { audioSchema } from './audio-params';
import { latentSchema } from './latent-params';

/** What differs between musetalk packs (1.0, 1.5, distilled); everything else about the algorithm is code. */
export const musetalkParamsSchema = z.strictObject({
  /** Side of the square face crop, pixels: the kernel that cuts it works on eight at a time. */
  resolution: z.int().positive().multipleOf(8),
  latent: latentSchema,
  audio: audioSchema.extend({
    /** Whether the sinusoidal position code is added by the caller. */
    positionalEncoding: z.enum(['outside', 'inside']),
  }),
  /** The diffusion time that the network is asked for. */
  timestep: z.int().nonnegative(),
  /** Frames per call of the graphs; an incomplete batch is padded, so that they always see one shape. */
  batch: z.int().positive(),
  crop: z.strictObject({
    /** Pixels that the generated half begins lower than the nose bridge's low point (`bbox_shift`); 0 in 1.5. */
    shift: z.int(),
    /** Room below the chin, pixels (`extra_margin`): 10 in 1.5, 0 in 1.0. */
    margin: z.int().nonnegative(),
  }),
  /** How the mask of the pasted face is made from the parsed one; without a parser a polygon of landmarks stands in. */
  mask: z.strictObject({
    mode: z.enum(['jaw', 'raw', 'neck']),
    /** Half-widths of the part around the middle that is not taken in again, at 512 pixels ('jaw' only). */
    leftCheek: z.int().min(0).max(256),
    rightCheek: z.int().min(0).max(256),
    /** Width of the blur as a part of the parsed square. */
    blur: z.number().positive().lt(1),
  }),
});

export type MusetalkParams = z.infer<typeof musetalkParamsSchema>;
