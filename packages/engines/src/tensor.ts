/** Element types that may cross a graph's boundary. Half precision stays inside the graphs (Cast). */
interface TensorArrays {
  float32: Float32Array<ArrayBuffer>;
  uint8: Uint8Array<ArrayBuffer>;
  int32: Int32Array<ArrayBuffer>;
  int64: BigInt64Array<ArrayBuffer>;
}

export type TensorType = keyof TensorArrays;

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
