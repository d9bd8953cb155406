import { saysOutOfMemory } from './memory';

test.each([
  "Non-zero status code returned while running Conv node. Name:'x' Status Message: std::bad_alloc",
  'BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 8589934592',
  'Available memory of 1048576 is smaller than requested bytes of 4194304',
  'CUDA failure 2: out of memory ; GPU=0 ; expr=cudaMalloc((void**)&p, size);',
  'CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0',
  'Array buffer allocation failed',
  'WebAssembly.Memory(): could not allocate memory',
])('recognized as out of memory: %s', (message) => {
  expect(saysOutOfMemory(message)).toBe(true);
});

test.each([
  'Got invalid dimensions for input: image for the following indices index: 2 Got: 128 Expected: 256',
  'Load model from unet.onnx failed:Protobuf parsing failed.',
  'offset is out of bounds',
])('not recognized as out of memory: %s', (message) => {
  expect(saysOutOfMemory(message)).toBe(false);
});
