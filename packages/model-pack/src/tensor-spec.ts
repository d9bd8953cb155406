import { z } from 'zod';

/**
 * One tensor at a model's boundary. Its key in the manifest is the name that the engine's code uses. `name` is its name
 * in the graph, for packs whose exporter chose another.
 */
export const tensorSpecSchema = z.strictObject({
  name: z.string().min(1),
  dtype: z.enum(['float32', 'uint8', 'int8', 'int32', 'int64', 'bool', 'float16']),
  /** NCHW for images. A string is a dimension that the caller chooses, e.g. the batch. */
  dims: z.array(z.union([z.int().positive(), z.string().min(1)])),
  /** Lowest and highest meaningful value, e.g. [-1, 1] for a normalised image; for readers, nothing checks it. */
  range: z.tuple([z.number(), z.number()]).optional(),
});

export type TensorSpec = z.infer<typeof tensorSpecSchema>;
