import { SessionError, type Tensor, type Tensors } from './tensor';

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
