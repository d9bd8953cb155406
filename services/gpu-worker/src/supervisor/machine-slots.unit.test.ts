import { machineSlots } from './machine-slots';

const GIB = 1024 ** 3;
const room = { memoryBytes: 64 * GIB, cores: 16, gpu: false, weightBytes: 1 * GIB };

test.each([
  ['cores bound a machine with much memory', { ...room }, 8],
  ['memory bounds a machine with many cores', { ...room, memoryBytes: 16 * GIB }, 2],
  ['large weights leave room for fewer processes', { ...room, weightBytes: 6 * GIB }, 2],
  ['a core that is left over is no process', { ...room, cores: 7 }, 3],
  ['a GPU is used by one process', { ...room, gpu: true }, 1],
  ['a machine too small for one process still gets one', { ...room, memoryBytes: 1 * GIB, cores: 1 }, 1],
])('%s', (_what, machine, slots) => {
  expect(machineSlots(machine)).toBe(slots);
});
