import { type z } from 'zod';
import { type Manifest, type TensorSpec } from './manifest';

/** A size that the code of an engine feeds or reads. It never varies, so the dimension may be free or just this. */
export type Size = number | { readonly atLeast: number };

/** What the code of an engine requires of a tensor, given its parameters. */
export interface ExpectedTensor {
  readonly dtype: 'float32' | 'uint8' | 'int64';
  readonly dims: readonly Size[];
}

/** The expected roles, by role and tensor key of a manifest. */
export type ExpectedRoles = Readonly<Record<string, ExpectedRole>>;

export interface ExpectedRole {
  readonly inputs?: Readonly<Record<string, ExpectedTensor>>;
  readonly outputs?: Readonly<Record<string, ExpectedTensor>>;
}

export const expectFloats = (...dims: Size[]): ExpectedTensor => ({ dtype: 'float32', dims });
export const expectBytes = (...dims: Size[]): ExpectedTensor => ({ dtype: 'uint8', dims });

/** A diffusion timestep. */
export const TIMESTEP: ExpectedTensor = { dtype: 'int64', dims: [1] };

/** Adds an issue to a manifest for every tensor that its parameters contradict. Optional tensors may be left out. */
export function refuseMismatches(
  context: z.RefinementCtx,
  roles: Manifest['roles'],
  expected: ExpectedRoles,
): void {
  for (const [role, tensors] of Object.entries(expected)) {
    for (const side of ['inputs', 'outputs'] as const) {
      for (const [key, wanted] of Object.entries(tensors[side] ?? {})) {
        const declared = roles[role]?.[side][key];
        if (!declared || fits(declared, wanted)) continue;
        const message = `is ${inWords(declared)}, the parameters ask for ${inWords(wanted)}`;
        context.addIssue({ code: 'custom', path: ['roles', role, side, key], message });
      }
    }
  }
}

function fits({ dtype, dims }: TensorSpec, wanted: ExpectedTensor): boolean {
  if (dtype !== wanted.dtype || dims.length !== wanted.dims.length) return false;
  return wanted.dims.every((size, axis) => {
    const declared = dims[axis];
    if (typeof declared !== 'number') return true;
    return typeof size === 'number' ? declared === size : declared >= size.atLeast;
  });
}

function inWords({ dtype, dims }: TensorSpec | ExpectedTensor): string {
  const sizes = dims.map((size) => (typeof size === 'object' ? `at least ${size.atLeast}` : size));
  return `${dtype} [${sizes.join(',')}]`;
}
