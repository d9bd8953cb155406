import { type TensorSpec as PackTensor } from '@lipsync/model-pack';
import { type TensorSpec as GraphTensor } from '../sessions/session';

/** What must agree between a role in the manifest and its graph. */
export interface RoleTensors {
  readonly inputs: PackTensors;
  readonly outputs: PackTensors;
}

/** Tensors by the manifest's keys; undefined when the pack omits an optional one. */
export type PackTensors = Readonly<Record<string, PackTensor | undefined>>;

/** The tensors that the pack has. */
export function declaredTensors(tensors: PackTensors): [key: string, spec: PackTensor][] {
  return Object.entries(tensors).flatMap(([key, spec]) => (spec === undefined ? [] : [[key, spec]]));
}

/**
 * Compares a role in the manifest with its graph's declarations. Returns a description of the first difference, or
 * undefined. A graph may leave free a dimension that the manifest fixes, and may have additional outputs.
 */
export function tensorMismatch(
  role: RoleTensors,
  graph: { readonly inputs: readonly GraphTensor[]; readonly outputs: readonly GraphTensor[] },
): string | undefined {
  const named = new Set(declaredTensors(role.inputs).map(([, spec]) => spec.name));
  const surplus = graph.inputs.find((input) => !named.has(input.name));
  if (surplus) return `the graph wants an input '${surplus.name}' that the manifest does not name`;
  return (
    firstMismatch('input', role.inputs, graph.inputs) ?? firstMismatch('output', role.outputs, graph.outputs)
  );
}

function firstMismatch(
  kind: 'input' | 'output',
  wanted: PackTensors,
  declared: readonly GraphTensor[],
): string | undefined {
  for (const [, spec] of declaredTensors(wanted)) {
    const found = declared.find((tensor) => tensor.name === spec.name);
    if (!found) return `the graph has no ${kind} '${spec.name}'`;
    if (found.type !== spec.dtype)
      return `${kind} '${spec.name}' is ${found.type}, the manifest says ${spec.dtype}`;
    if (!sameShape(spec.dims, found.dims)) {
      return `${kind} '${spec.name}' is [${found.dims.join(',')}], the manifest says [${spec.dims.join(',')}]`;
    }
  }
  return undefined;
}

/** A number in the manifest matches the same number or a free dimension; a name matches only a free dimension. */
function sameShape(wanted: readonly (number | string)[], declared: readonly (number | string)[]): boolean {
  if (wanted.length !== declared.length) return false;
  return wanted.every((dim, axis) => {
    const found = declared[axis];
    const free = typeof found === 'string' || (typeof found === 'number' && found < 1);
    return free || dim === found;
  });
}
