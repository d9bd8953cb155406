import { z } from 'zod';

/**
 * One tensor at a model's boundary. The key under which it stands in the manifest is what the engine's code calls it;
 * `name` is what the graph calls it, for packs whose exporter chose other names.
 */
export const tensorSpecSchema = z.strictObject({
  name: z.string().min(1),
  dtype: z.enum(['float32', 'uint8', 'int8', 'int32', 'int64', 'bool', 'float16']),
  /** NCHW for images; a string is a dimension that the caller chooses, e.g. the batch. */
  dims: z.array(z.union([z.int().positive(), z.string().min(1)])),
  /** Lowest and highest meaningful value, e.g. [-1, 1] for a normalised image. */
  range: z.tuple([z.number(), z.number()]).optional(),
});

export type TensorSpec = z.infer<typeof tensorSpecSchema>;
