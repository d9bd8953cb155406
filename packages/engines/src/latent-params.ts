import { z } from 'zod';

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
