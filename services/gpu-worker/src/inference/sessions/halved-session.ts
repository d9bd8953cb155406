import { type RunResult, SessionError, type Tensor, type Tensors } from '@lipsync/engines';
import { copyOf, type Session } from './session';

/**
 * Wraps a graph for devices that may be short of memory: a batch that does not fit is run again as two halves, and
 * every later batch as halves from the start. A half that does not fit either, or a run without a batch to divide,
 * fails as before.
 */
export function halveWhenOutOfMemory(session: Session): Session {
  const batch = batchName(session);
  if (batch === undefined) return session;
  let halved = false;

  const run: Session['run'] = async (feeds, targets) => {
    if (halved) return runHalves(session, batch, feeds, targets);
    try {
      return await session.run(feeds, targets);
    } catch (error) {
      if (!(error instanceof SessionError) || error.reason !== 'out_of_memory') throw error;
      const result = await runHalves(session, batch, error.feeds, error.targets);
      halved = true;
      return result;
    }
  };
  return { ...session, run };
}

/** The name of the inputs' free first dimension, if all outputs scale with it. */
function batchName({ inputs, outputs }: Session): string | undefined {
  const name = inputs.map(({ dims: [first] }) => first).find((dim) => typeof dim === 'string');
  return typeof name === 'string' && outputs.every(({ dims }) => dims[0] === name) ? name : undefined;
}

async function runHalves(
  session: Session,
  batch: string,
  feeds: Tensors,
  targets: Tensors = {},
): Promise<RunResult> {
  const divided = session.inputs.filter(({ dims }) => dims[0] === batch).map(({ name }) => name);
  const size = feeds[divided[0] ?? '']?.dims[0] ?? 0;
  if (size < 2) return session.run(feeds, targets);
  const half = Math.ceil(size / 2);
  const part = async (from: number, to: number): Promise<Tensors> => {
    const copies = Object.entries(feeds).map(([name, tensor]): [string, Tensor] => [
      name,
      divided.includes(name) ? rows(tensor, from, to) : rows(tensor, 0, tensor.dims[0] ?? 1),
    ]);
    return (await session.run(Object.fromEntries(copies))).outputs;
  };
  const first = await part(0, half);
  const second = await part(half, size);
  const joined = Object.entries(first).map(([name, tensor]): [string, Tensor] => [
    name,
    joinRows(name, tensor, second[name], targets[name]),
  ]);
  return { outputs: Object.fromEntries(joined), feeds };
}

/** A copy of the rows [from, to) of the first dimension. */
function rows(tensor: Tensor, from: number, to: number): Tensor {
  const [count = 1, ...rest] = tensor.dims;
  const row = tensor.data.length / count;
  const dims = tensor.dims.length === 0 ? [] : [to - from, ...rest];
  return copyOf(tensor, dims, from * row, to * row);
}

/** Concatenates the rows of two tensors, in the memory of `target` if given. Graphs output floats. */
function joinRows(
  name: string,
  upper: Tensor,
  lower: Tensor | undefined,
  target: Tensor | undefined,
): Tensor {
  if (upper.type !== 'float32' || lower?.type !== 'float32')
    throw new SessionError('run_failed', `output '${name}' cannot be put together from halves`);
  const dims = [(upper.dims[0] ?? 0) + (lower.dims[0] ?? 0), ...upper.dims.slice(1)];
  const length = upper.data.length + lower.data.length;
  const data = target?.type === 'float32' ? target.data : new Float32Array(length);
  data.set(upper.data);
  data.set(lower.data, upper.data.length);
  return { type: 'float32', dims, data };
}
