import { type Session } from '../sessions/session';
import { declaredTensors, type RoleTensors } from './compare-tensors';
import { SessionError, type Tensor } from '@lipsync/engines';
import { type Probe, type TensorSpec as PackTensor } from '@lipsync/model-pack';

type Fill = Probe['fill'][string];

/**
 * Runs the manifest's probe: fills the inputs as it specifies and compares the outputs with the recorded values, within
 * the tolerance. Returns a description of the mismatch, or undefined. Rejects with SessionError when the graph cannot
 * be run.
 */
export async function probeMismatch(
  role: RoleTensors,
  probe: Probe,
  session: Session,
): Promise<string | undefined> {
  const feeds = Object.fromEntries(
    declaredTensors(role.inputs).map(([key, spec]) => [
      spec.name,
      filled(spec, probe.fill[key] ?? 0, probe.dims),
    ]),
  );
  const { outputs } = await session.run(feeds);
  for (const { key, measure, wanted, of } of recorded(probe)) {
    const spec = role.outputs[key];
    const tensor = spec && outputs[spec.name];
    if (!tensor) return `the probe names an output '${key}' that the role does not have`;
    const actual = of(tensor);
    // Written so that NaN is a mismatch too.
    if (!(Math.abs(actual - wanted) <= probe.tolerance)) {
      return `the ${measure} of '${key}' is ${actual}, ${wanted} ± ${probe.tolerance} expected`;
    }
  }
  return undefined;
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

function filled(spec: PackTensor, fill: Fill, sizes: Readonly<Record<string, number>>): Tensor {
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
