import { SessionError, type Tensor, type Tensors } from '@lipsync/engines';
import { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { saysOutOfMemory } from '../../protocol/memory';
import { type SessionOptions, type TensorSpec } from './session';

export type LoadedGraph = Awaited<ReturnType<typeof loadGraph>>;

/** Loads one graph into the runtime. Only the session thread calls this: loading and running block their thread. */
export async function loadGraph(file: string, options: SessionOptions) {
  const session = await InferenceSession.create(file, sessionOptions(options)).catch((error: unknown) => {
    const message = messageOf(error);
    throw new SessionError(saysOutOfMemory(message) ? 'out_of_memory' : 'load_failed', message);
  });
  return {
    inputs: session.inputMetadata.map(specOf),
    outputs: session.outputMetadata.map(specOf),
    /** Blocks this thread while the graph runs. */
    run: async (feeds: Tensors, targets: Tensors = {}): Promise<Tensors> => {
      const wanted: Record<string, OrtTensor | null> = {};
      for (const name of session.outputNames) {
        const target = targets[name];
        wanted[name] = target ? toOrt(target) : null;
      }
      const outputs = await session.run(allToOrt(feeds), wanted);
      // The runtime fills the memory of a target, but returns a copy (microsoft/onnxruntime#32346).
      const filled = (name: string, tensor: OrtTensor): Tensor => targets[name] ?? fromOrt(name, tensor);
      return Object.fromEntries(
        Object.entries(outputs).map(([name, tensor]) => [name, filled(name, tensor)]),
      );
    },
    release: (): Promise<void> => session.release(),
  };
}

function sessionOptions(options: SessionOptions): InferenceSession.SessionOptions {
  return {
    executionProviders: [...(options.providers ?? ['cpu'])],
    intraOpNumThreads: options.threads ?? 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // An arena would hold the memory of the largest run for as long as the graph is loaded.
    enableCpuMemArena: false,
    enableMemPattern: false,
    // Errors are thrown as exceptions; the graph optimizer's warnings are of no use to an operator.
    logSeverityLevel: 3,
    // A spinning thread pool would take the cores that decode and encode.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  };
}

function specOf(value: InferenceSession.ValueMetadata): TensorSpec {
  if (!value.isTensor) return { name: value.name, type: 'not a tensor', dims: [] };
  return { name: value.name, type: value.type, dims: [...value.shape] };
}

function allToOrt(tensors: Tensors): Record<string, OrtTensor> {
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, toOrt(tensor)]));
}

function toOrt(tensor: Tensor): OrtTensor {
  switch (tensor.type) {
    case 'float32':
      return new OrtTensor('float32', tensor.data, tensor.dims);
    case 'uint8':
      return new OrtTensor('uint8', tensor.data, tensor.dims);
    case 'int32':
      return new OrtTensor('int32', tensor.data, tensor.dims);
    case 'int64':
      return new OrtTensor('int64', tensor.data, tensor.dims);
  }
}

function fromOrt(name: string, tensor: OrtTensor): Tensor {
  const { dims, data } = tensor;
  if (tensor.type === 'float32' && isFloat32(data)) return { type: 'float32', dims, data };
  if (tensor.type === 'uint8' && isUint8(data)) return { type: 'uint8', dims, data };
  if (tensor.type === 'int32' && isInt32(data)) return { type: 'int32', dims, data };
  if (tensor.type === 'int64' && isInt64(data)) return { type: 'int64', dims, data };
  throw new SessionError(
    'run_failed',
    `output '${name}' has type ${tensor.type}, which may not leave a graph`,
  );
}

// Only arrays over plain memory can be transferred to the other thread, so that is checked together with the class.
const isPlain = (data: { buffer: ArrayBufferLike }): boolean => data.buffer instanceof ArrayBuffer;
const isFloat32 = (data: unknown): data is Float32Array<ArrayBuffer> =>
  data instanceof Float32Array && isPlain(data);
const isUint8 = (data: unknown): data is Uint8Array<ArrayBuffer> =>
  data instanceof Uint8Array && isPlain(data);
const isInt32 = (data: unknown): data is Int32Array<ArrayBuffer> =>
  data instanceof Int32Array && isPlain(data);
const isInt64 = (data: unknown): data is BigInt64Array<ArrayBuffer> =>
  data instanceof BigInt64Array && isPlain(data);

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
