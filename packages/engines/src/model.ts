/** Element types that may cross a graph's boundary. Half precision stays inside the graphs (Cast). */
interface TensorArrays {
  float32: Float32Array<ArrayBuffer>;
  uint8: Uint8Array<ArrayBuffer>;
  int32: Int32Array<ArrayBuffer>;
  int64: BigInt64Array<ArrayBuffer>;
}

type TensorType = keyof TensorArrays;

/** A dense tensor; `data` has exactly product(dims) elements, row-major. */
export type Tensor = {
  [T in TensorType]: { readonly type: T; readonly dims: readonly number[]; readonly data: TensorArrays[T] };
}[TensorType];

/** Tensors by the graph's names. */
export type Tensors = Readonly<Record<string, Tensor>>;

export interface RunResult {
  readonly outputs: Tensors;
  /** The fed tensors, in the same memory, for reuse: the ones passed to `run` are detached. */
  readonly feeds: Tensors;
}

export class SessionError extends Error {
  override readonly name = 'SessionError';
  constructor(
    /** out_of_memory: the run may succeed with a smaller batch or after other work has ended. */
    readonly reason: 'load_failed' | 'run_failed' | 'out_of_memory' | 'closed',
    message: string,
    /** The feeds of the failed run, in the same memory. */
    readonly feeds: Tensors = {},
    /** The targets of the failed run, with arbitrary content. */
    readonly targets: Tensors = {},
  ) {
    super(message);
  }
}

/** A float32 tensor over `data`, which must have product(dims) elements. */
export function float32Tensor(data: Float32Array<ArrayBuffer>, dims: readonly number[]): Tensor {
  return { type: 'float32', dims, data };
}

/** The elements of the float32 tensor `name`; SessionError when it is missing or of another type. */
export function float32Of(tensors: Tensors, name: string): Float32Array<ArrayBuffer> {
  const tensor = tensors[name];
  if (tensor?.type !== 'float32') throw wrongTensor(name, 'float32', tensor);
  return tensor.data;
}

/** The elements of the 8-bit tensor `name`; SessionError when it is missing or of another type. */
export function uint8Of(tensors: Tensors, name: string): Uint8Array<ArrayBuffer> {
  const tensor = tensors[name];
  if (tensor?.type !== 'uint8') throw wrongTensor(name, 'uint8', tensor);
  return tensor.data;
}

function wrongTensor(name: string, wanted: string, got: Tensor | undefined): SessionError {
  return new SessionError('run_failed', `expected ${wanted} tensor '${name}', got ${got?.type ?? 'none'}`);
}

/** Allocates an array of this length with arbitrary content; nothing else uses it. */
export type TakeFloats = (length: number) => Float32Array<ArrayBuffer>;

/**
 * Runs the graph that a pack binds to `role`. Tensors are named by the manifest's keys, whatever the exporter called
 * them. As with sessions, the buffers of the feeds are transferred and returned. With `take`, outputs whose size
 * follows from the manifest are written to its arrays.
 */
export type RunModel = (role: string, feeds: Tensors, take?: TakeFloats) => Promise<RunResult>;

type Floats = Float32Array<ArrayBuffer>;
type Bytes = Uint8Array<ArrayBuffer>;

/** Reuses arrays of a few fixed lengths that travel to the graphs and back, so that they need no garbage collection. */
export interface ArrayPool {
  /** An array of this length with arbitrary content. */
  take(length: number): Floats;
  takeBytes(length: number): Bytes;
  give(array: Floats | Bytes): void;
}

/** Keeps at most `perLength` spare arrays of each type and length. */
export function createArrayPool(perLength: number): ArrayPool {
  const floats = createSpares<Floats>(perLength);
  const bytes = createSpares<Bytes>(perLength);
  return {
    take: (length) => floats.find(length) ?? new Float32Array(length),
    takeBytes: (length) => bytes.find(length) ?? new Uint8Array(length),
    give: (array) => (array instanceof Float32Array ? floats.keep(array) : bytes.keep(array)),
  };
}

function createSpares<T extends Floats | Bytes>(perLength: number) {
  const spare = new Map<number, T[]>();
  return {
    find: (length: number): T | undefined => spare.get(length)?.pop(),
    keep(array: T): void {
      const same = spare.get(array.length) ?? [];
      if (same.length < perLength) same.push(array);
      spare.set(array.length, same);
    },
  };
}

/** Gives the arrays of these tensors to the pool. */
export function giveAll(tensors: Tensors, pool: ArrayPool): void {
  for (const { type, data } of Object.values(tensors))
    if (type === 'float32' || type === 'uint8') pool.give(data);
}

/**
 * Runs a role on feeds whose arrays belong to the pool. Returns them to the pool afterwards; the outputs use its arrays
 * too.
 */
export type CallRole = (role: string, feeds: Tensors) => Promise<Tensors>;

export function createCallRole(run: RunModel, pool: ArrayPool): CallRole {
  return async (role, feeds) => {
    const result = await run(role, feeds, (length) => pool.take(length));
    giveAll(result.feeds, pool);
    return result.outputs;
  };
}
