import { codecThreads, machineShare } from './binaries';

const [MIB, GIB] = [1024 ** 2, 1024 ** 3];

test.each([
  ['a small machine is used as x264 would use it by itself', 2, 1, 3],
  ['a large one no further than more threads help', 64, 1, 16],
  ['processes that share a machine share its cores', 16, 4, 6],
  ['nobody is left without a thread', 1, 8, 1],
])('%s', (_what, cores, processes, threads) => {
  expect(codecThreads(cores, processes)).toBe(threads);
});

test.each([512 * MIB, GIB, 2 * GIB, 6 * GIB, 24 * GIB])(
  'the tools of all processes together never take the %d bytes of their container',
  (memoryBytes) => {
    for (const processes of [1, 2, 8])
      expect(machineShare({ cores: 64, memoryBytes }, processes).memoryBytes * processes).toBeLessThan(
        memoryBytes,
      );
  },
);

test('a tool gets no more than 4K needs, however large the machine', () => {
  expect(machineShare({ cores: 64, memoryBytes: 1024 * GIB }, 1)).toEqual({
    memoryBytes: 6 * GIB,
    decoderThreads: 16,
    encoderThreads: 16,
  });
});

test('where memory is scarce, codecs get fewer threads and not less memory than each thread needs', () => {
  expect(machineShare({ cores: 64, memoryBytes: 2 * GIB }, 2)).toEqual({
    memoryBytes: 768 * MIB,
    decoderThreads: 4,
    encoderThreads: 1,
  });
});
