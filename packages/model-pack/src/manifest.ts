import { z } from 'zod';

/** What every pack.json says: what the pack is for, its files by role, and the parameters that its code needs. */
export interface Manifest extends z.infer<z.ZodObject<typeof commonFields>> {
  readonly engine: string;
  readonly roles: Readonly<Record<string, PackRole | undefined>>;
  readonly params: unknown;
}

/**
 * The schema of the manifests of one engine: its roles (`roleSchema`) and parameters. What the parameters ask of the
 * tensors is added with `superRefine` and `refuseMismatches`.
 */
export function manifestSchema<E extends string, R extends z.ZodRawShape, P extends z.ZodType>(
  engine: E,
  roles: R,
  params: P,
) {
  return z.strictObject({
    ...commonFields,
    engine: z.literal(engine),
    roles: z.strictObject(roles),
    params,
  });
}

/** Execution providers of ONNX Runtime that packs can be made for. */
export const PROVIDERS = ['cuda', 'webgpu', 'cpu'] as const;
export type Provider = (typeof PROVIDERS)[number];

const commonFields = {
  /** Version of the format of this file. */
  format: z.literal(1),
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  version: z.string().regex(/^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]+)?$/),
  /** SPDX expression, and the origin of the weights. */
  license: z.strictObject({ spdx: z.string().min(1), source: z.string().min(1) }),
  /**
   * Execution providers that the files are made for, preferred first. Graphs optimized for one may not load in another.
   */
  providers: z.array(z.enum(PROVIDERS)).min(1),
};

/** A role as in every engine's manifest, whatever its tensors are called. */
export interface PackRole {
  readonly file: string;
  readonly sha256: string;
  readonly externalData?: readonly { readonly file: string; readonly sha256: string }[] | undefined;
  readonly inputs: Readonly<Record<string, TensorSpec | undefined>>;
  readonly outputs: Readonly<Record<string, TensorSpec | undefined>>;
  readonly probe?: Probe | undefined;
}

/** The roles that a pack provides, by name, without the optional ones that it omits. */
export function packRoles(manifest: Manifest): ReadonlyMap<string, PackRole> {
  const roles: Readonly<Record<string, PackRole | undefined>> = manifest.roles;
  return new Map(
    Object.entries(roles).flatMap(([name, role]): [string, PackRole][] => (role ? [[name, role]] : [])),
  );
}

/**
 * One tensor at a model's boundary. Its key in the manifest is the name that the engine's code uses. `name` is its name
 * in the graph, for packs whose exporter chose another.
 */
export const tensorSpecSchema = z.strictObject({
  name: z.string().min(1),
  dtype: z.enum(['float32', 'uint8', 'int8', 'int32', 'int64', 'bool', 'float16']),
  /** NCHW for images. A string is a dimension that the caller chooses, e.g. the batch. */
  dims: z.array(z.union([z.int().positive(), z.string().min(1)])),
  /** Lowest and highest meaningful value, e.g. [-1, 1] for a normalized image; for readers, nothing checks it. */
  range: z.tuple([z.number(), z.number()]).optional(),
});

export type TensorSpec = z.infer<typeof tensorSpecSchema>;

/** A float32 tensor of a manifest. */
export function floatTensor(
  name: string,
  dims: readonly (number | string)[],
  range?: readonly [number, number],
): TensorSpec {
  const spec = { name, dtype: 'float32' as const, dims: [...dims] };
  return range === undefined ? spec : { ...spec, range: [...range] };
}

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
