import { type RunResult, type Tensor, type Tensors } from '@lipsync/engines';
import { type Provider } from '@lipsync/model-pack';

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

/** A tensor over a copy of the elements [from, to) of another one; of all by default. */
export function copyOf(tensor: Tensor, dims = tensor.dims, from = 0, to = tensor.data.length): Tensor {
  switch (tensor.type) {
    case 'float32':
      return { type: tensor.type, dims, data: tensor.data.slice(from, to) };
    case 'uint8':
      return { type: tensor.type, dims, data: tensor.data.slice(from, to) };
    case 'int32':
      return { type: tensor.type, dims, data: tensor.data.slice(from, to) };
    case 'int64':
      return { type: tensor.type, dims, data: tensor.data.slice(from, to) };
  }
}
