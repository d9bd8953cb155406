import { type Provider } from '@lipsync/model-pack';

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

/** One input or output as the graph declares it; a symbolic dimension is its name. */
export interface TensorSpec {
  readonly name: string;
  readonly type: string;
  readonly dims: readonly (number | string)[];
}

export interface SessionOptions {
  /**
   * Threads inside one operator; default 1. The runtime's own default takes all cores and competes with the encoder.
   */
  readonly threads?: number;
  /** In order of preference; default ['cpu']. A provider that cannot be loaded is an error, never a silent fallback. */
  readonly providers?: readonly Provider[];
}

export interface RunResult {
  readonly outputs: Tensors;
  /** The fed tensors, in the same memory, for reuse: the ones passed to `run` are detached. */
  readonly feeds: Tensors;
}

/** One loaded graph. Runs of all sessions of a host happen one after the other, in the order of the calls. */
export interface Session {
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  /**
   * Runs the graph once. The buffers of the feeds are transferred, not copied: they are detached by the call and come
   * back as `feeds` of the result. A view on part of a larger buffer is copied first. `targets` are outputs with
   * preallocated memory: they are transferred too, and come back filled among the outputs. Their shapes must match the
   * graph's, and none may share its buffer. Rejects with SessionError when the graph refuses the feeds or fails; the
   * error carries feeds and targets.
   */
  run(feeds: Tensors, targets?: Tensors): Promise<RunResult>;
  release(): Promise<void>;
}

/** Opens graphs. The one implementation keeps them all in a single worker thread. */
export interface SessionHost {
  /** Rejects with SessionError when the file cannot be loaded. */
  open(file: string, options?: SessionOptions): Promise<Session>;
  /** Releases every session and lets the thread end once the current run is over. */
  close(): Promise<void>;
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
