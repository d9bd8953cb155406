import { z } from 'zod';

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
