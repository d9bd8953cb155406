import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Pack } from '@lipsync/engines';
import {
  encodeModel,
  GraphBuilder,
  MANIFEST_FILE,
  modelFile,
  type PackRole,
  packRoles,
  type TensorSpec,
  type Value,
} from '@lipsync/model-pack';

/** More than the address space of a process. */
const TOO_MUCH = [2 ** 24, 2 ** 22];

/**
 * Copies a pack to `dir` with another graph for one of its roles. The manifest keeps the role's tensors and gets the
 * digest of the new graph.
 */
export async function writeAlteredPack(
  dir: string,
  pack: Pack,
  role: string,
  graphOf: (role: PackRole) => Uint8Array,
): Promise<void> {
  const declared = roleOf(pack, role);
  const model = graphOf(declared);
  await cp(pack.dir, dir, { recursive: true });
  await writeFile(join(dir, declared.file), model);
  const manifest = await readFile(join(dir, MANIFEST_FILE), 'utf8');
  await writeFile(
    join(dir, MANIFEST_FILE),
    manifest.replaceAll(declared.sha256, modelFile(declared.file, model).sha256),
  );
}

function roleOf(pack: Pack, role: string): PackRole {
  const found = packRoles(pack.manifest).get(role);
  if (!found) throw new Error(`${pack.dir} has no role ${role}`);
  return found;
}

/** A graph with the tensors of a role that outputs zeros. */
export function emptyGraph(role: PackRole): Uint8Array {
  return graph(role, (g) => g.scalar(0));
}

/** A graph with the tensors of a role that, when run, asks for more memory than can exist. */
export function hungryGraph(role: PackRole): Uint8Array {
  return graph(role, (g, input) => {
    const seed = g.op('ReduceMean', [g.op('Cast', [input], { to: 1 })], { keepdims: 0 });
    return g.op('ReduceMean', [g.op('Expand', [seed, g.ints(TOO_MUCH)])], { keepdims: 0 });
  });
}

function graph(role: PackRole, valueOf: (g: GraphBuilder, input: Value) => Value): Uint8Array {
  const g = new GraphBuilder('altered');
  const inputs = specsOf(role.inputs).map((spec) => ({
    spec,
    value: g.input(spec.name, spec.dtype, spec.dims),
  }));
  const [first] = inputs;
  if (!first) throw new Error('a role without inputs');
  const value = valueOf(g, first.value);
  for (const { name, dtype, dims } of specsOf(role.outputs)) {
    const sizes = dims.map((dim) => (typeof dim === 'number' ? g.ints([dim]) : sizeOf(g, dim, inputs)));
    g.output(name, g.op('Expand', [value, g.op('Concat', sizes, { axis: 0 })]), dtype, dims);
  }
  return encodeModel(g.build());
}

/** The size of a free dimension, taken from the inputs. */
function sizeOf(g: GraphBuilder, dim: string, inputs: readonly { spec: TensorSpec; value: Value }[]): Value {
  for (const { spec, value } of inputs) {
    const axis = spec.dims.indexOf(dim);
    if (axis >= 0) return g.op('Gather', [g.op('Shape', [value]), g.ints([axis])]);
  }
  throw new Error(`no input has the dimension ${dim}`);
}

function specsOf(tensors: PackRole['inputs']): TensorSpec[] {
  return Object.values(tensors).flatMap((spec) => (spec ? [spec] : []));
}
