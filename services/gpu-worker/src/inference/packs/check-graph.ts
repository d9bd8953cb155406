import { type RunResult, SessionError, type Tensor } from '@lipsync/engines';
import { type Probe, type TensorSpec as PackTensor } from '@lipsync/model-pack';
import { type ProbeReading } from '../../protocol/messages';
import { type Session, type TensorSpec as GraphTensor } from '../sessions/session';

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

type Fill = Probe['fill'][string];

/**
 * Runs the manifest's probe: fills the inputs as it specifies and compares the outputs with the recorded values, within
 * the tolerance. Returns the largest deviation, or a description of the first mismatch. Rejects with SessionError when
 * the graph cannot be run.
 */
export async function runProbe(
  role: RoleTensors,
  probe: Probe,
  session: Session,
): Promise<Omit<ProbeReading, 'role'> | { readonly mismatch: string }> {
  const feeds = Object.fromEntries(
    declaredTensors(role.inputs).map(([key, spec]) => [
      spec.name,
      filledTensor(spec, probe.fill[key] ?? 0, probe.dims),
    ]),
  );
  const { outputs } = await session.run(feeds);
  let deviation = 0;
  for (const { key, measure, wanted, of } of recorded(probe)) {
    const spec = role.outputs[key];
    const tensor = spec && outputs[spec.name];
    if (!tensor) return { mismatch: `the probe names an output '${key}' that the role does not have` };
    const actual = of(tensor);
    const difference = Math.abs(actual - wanted);
    // Written so that NaN is a mismatch too.
    if (!(difference <= probe.tolerance)) {
      return { mismatch: `the ${measure} of '${key}' is ${actual}, ${wanted} ± ${probe.tolerance} expected` };
    }
    deviation = Math.max(deviation, difference);
  }
  return { deviation, tolerance: probe.tolerance };
}

/** Everything that a probe records, as a sequence of numbers. */
function* recorded(
  probe: Probe,
): Generator<{ key: string; measure: string; wanted: number; of: (tensor: Tensor) => number }> {
  for (const [key, wanted] of Object.entries(probe.means)) yield { key, measure: 'mean', wanted, of: meanOf };
  for (const [key, wanted] of Object.entries(probe.rms ?? {})) {
    yield { key, measure: 'root mean square', wanted, of: rootMeanSquareOf };
  }
  for (const [key, values] of Object.entries(probe.first ?? {})) {
    for (const [index, wanted] of values.entries()) {
      yield { key, measure: `element ${index}`, wanted, of: ({ data }) => Number(data[index] ?? NaN) };
    }
  }
}

/** A tensor as a probe feeds it, with these sizes of its free dimensions. */
export function filledTensor(spec: PackTensor, fill: Fill, sizes: Readonly<Record<string, number>>): Tensor {
  const dims = spec.dims.map((dim) => (typeof dim === 'number' ? dim : (sizes[dim] ?? 1)));
  const length = dims.reduce((product, dim) => product * dim, 1);
  const value = (i: number): number => (fill === 'wave' ? Math.sin(i) : fill);
  const whole = (i: number): number => Math.round(value(i));
  switch (spec.dtype) {
    case 'float32':
      return { type: 'float32', dims, data: new Float32Array(length).map((_, i) => value(i)) };
    case 'uint8':
      return { type: 'uint8', dims, data: new Uint8Array(length).map((_, i) => whole(i)) };
    case 'int32':
      return { type: 'int32', dims, data: new Int32Array(length).map((_, i) => whole(i)) };
    case 'int64':
      return { type: 'int64', dims, data: new BigInt64Array(length).map((_, i) => BigInt(whole(i))) };
    default:
      throw new SessionError('load_failed', `'${spec.name}': ${spec.dtype} may not cross a graph's boundary`);
  }
}

function meanOf(tensor: Tensor): number {
  return meanOver(tensor, (value) => value);
}

function rootMeanSquareOf(tensor: Tensor): number {
  return Math.sqrt(meanOver(tensor, (value) => value * value));
}

function meanOver({ data }: Tensor, of: (value: number) => number): number {
  let sum = 0;
  for (let i = 0; i < data.length; i++) sum += of(Number(data[i]));
  return sum / data.length;
}

/** Number of values to sample: a network's normalizations spread a NaN over a whole image, so a sample suffices. */
const PLACES = 4096;

/**
 * Throws SessionError when a half-precision graph overflowed, or a device failed silently: the result would become a
 * black mouth, and be stored for the next renders of the video.
 */
export function expectFinite(role: string, { outputs, feeds }: RunResult): void {
  for (const [name, { type, data }] of Object.entries(outputs)) {
    if (type !== 'float32') continue;
    const step = Math.ceil(data.length / PLACES);
    for (let at = 0; at < data.length; at += step) {
      if (!Number.isFinite(data[at]))
        throw new SessionError('run_failed', `${role}: '${name}' is not a number at ${at}`, feeds);
    }
  }
}
