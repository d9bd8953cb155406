import { z } from 'zod';
import { tensorSpecSchema } from './tensor-spec';

/** A plain file name, so that a pack cannot point outside its own directory. */
const fileNameSchema = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/);
const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

const fileSchema = z.strictObject({ file: fileNameSchema, sha256: sha256Schema });

/** The values of an input in a probe: one number everywhere, or sin(i) for element i of the flattened tensor. */
const fillSchema = z.union([z.number(), z.literal('wave')]);

/**
 * A test run that distinguishes right weights from wrong ones. Inputs are filled according to `fill`; free dimensions
 * have the sizes in `dims`. The mean of each output must be within `tolerance` of the recorded one, and so must, if
 * recorded, its root mean square and its first elements, because a mean alone does not detect weights in the wrong
 * place.
 */
const probeSchema = z.strictObject({
  dims: z.record(z.string(), z.int().positive()),
  fill: z.record(z.string(), fillSchema),
  means: z.record(z.string(), z.number()),
  rms: z.record(z.string(), z.number().nonnegative()).optional(),
  first: z.record(z.string(), z.array(z.number()).min(1)).optional(),
  tolerance: z.number().positive(),
});

export type Probe = z.infer<typeof probeSchema>;

const tensorsSchema = <I extends string>(keys: readonly I[]) =>
  z.strictObject(keyed(keys, () => tensorSpecSchema));

/**
 * A role of an engine: one model file and the names of its tensors. `inputs` and `outputs` list the tensors that the
 * engine's code binds and that every pack must have; `extraInputs` are fed only to packs that declare them. No others
 * are allowed.
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
  return result as Record<K, V>; // every key was just set, which TypeScript cannot infer from a loop
}
