import { type Probe, type TensorSpec as PackTensor } from '@lipsync/model-pack';
import { SessionError, type Session, type Tensor } from '../sessions/session';
import { declaredTensors, type RoleTensors } from './compare-tensors';

/**
 * Runs the manifest's probe: inputs of one value each, means of the outputs within the tolerance. Returns what is
 * wrong in words, or undefined. Rejects with SessionError when the graph cannot be run.
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
  for (const [key, wanted] of Object.entries(probe.means)) {
    const spec = role.outputs[key];
    const tensor = spec && outputs[spec.name];
    if (!tensor) return `the probe names an output '${key}' that the role does not have`;
    const mean = meanOf(tensor);
    // Written so that a mean that is not a number is a mismatch too.
    if (!(Math.abs(mean - wanted) <= probe.tolerance)) {
      return `the mean of '${key}' is ${mean}, ${wanted} ± ${probe.tolerance} expected`;
    }
  }
  return undefined;
}

function filled(spec: PackTensor, value: number, sizes: Readonly<Record<string, number>>): Tensor {
  const dims = spec.dims.map((dim) => (typeof dim === 'number' ? dim : (sizes[dim] ?? 1)));
  const length = dims.reduce((product, dim) => product * dim, 1);
  switch (spec.dtype) {
    case 'float32':
      return { type: 'float32', dims, data: new Float32Array(length).fill(value) };
    case 'uint8':
      return { type: 'uint8', dims, data: new Uint8Array(length).fill(value) };
    case 'int32':
      return { type: 'int32', dims, data: new Int32Array(length).fill(value) };
    case 'int64':
      return { type: 'int64', dims, data: new BigInt64Array(length).fill(BigInt(Math.round(value))) };
    default:
      throw new SessionError('load_failed', `'${spec.name}': ${spec.dtype} may not cross a graph's boundary`);
  }
}

function meanOf({ data }: Tensor): number {
  let sum = 0;
  for (let i = 0; i < data.length; i++) sum += Number(data[i]);
  return sum / data.length;
}
