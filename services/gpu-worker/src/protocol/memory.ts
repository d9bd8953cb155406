/**
 * Default total weights, in bytes, that an inference process keeps loaded: all built-in packs fit, official ones one at
 * a time.
 */
export const MODEL_CACHE_BYTES = 1024 ** 3;

/**
 * Messages that runtimes give when memory runs out: the C++ library, ONNX Runtime's arenas and those of the CUDA
 * libraries, WebGPU, and JavaScript for arrays and WebAssembly.
 */
const OUT_OF_MEMORY =
  /bad_alloc|out of memory|allocation failed|could not allocate|failed to allocate|alloc_failed|smaller than requested bytes/i;

/** Whether an error's message says that memory ran out; there is no error class to test for. */
export function saysOutOfMemory(message: string): boolean {
  return OUT_OF_MEMORY.test(message);
}
