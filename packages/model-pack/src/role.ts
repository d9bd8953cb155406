import { z } from 'zod';
import { tensorSpecSchema } from './tensor-spec';

/** A plain file name: a pack cannot point outside its own directory. */
const fileNameSchema = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/);
const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

const fileSchema = z.strictObject({ file: fileNameSchema, sha256: sha256Schema });

/**
 * A run that tells right weights from wrong ones: every element of an input is `fill[key]`, free dimensions have the
 * sizes in `dims`, and the mean of each output must come within `tolerance` of the recorded one.
 */
const probeSchema = z.strictObject({
  dims: z.record(z.string(), z.int().positive()),
  fill: z.record(z.string(), z.number()),
  means: z.record(z.string(), z.number()),
  tolerance: z.number().positive(),
});

export type Probe = z.infer<typeof probeSchema>;

const tensorsSchema = <I extends string>(keys: readonly I[]) =>
  z.strictObject(keyed(keys, () => tensorSpecSchema));

/**
 * A role of an engine: one model file and how its tensors are named. `inputs` and `outputs` list the tensors that the
 * engine's code binds and that every pack must have; `extraInputs` are fed to the packs that name them. No others are
 * known.
 */
export function roleSchema<I extends string, O extends string, E extends string = never>(
  inputs: readonly I[],
  outputs: readonly O[],
  extraInputs: readonly E[] = [],
) {
  return fileSchema.extend({
    /** Weight files that the model refers to by name (ONNX external data). */
    externalData: z.array(fileSchema).optional(),
    inputs: tensorsSchema(inputs).extend(keyed(extraInputs, () => tensorSpecSchema.optional())),
    outputs: tensorsSchema(outputs),
    probe: probeSchema.optional(),
  });
}

function keyed<K extends string, V>(keys: readonly K[], value: () => V): Record<K, V> {
  const result: Partial<Record<K, V>> = {};
  for (const key of keys) result[key] = value();
  return result as Record<K, V>; // every key was just set; the type of a loop cannot say so
}
