import { machineSlots } from './machine-slots';

const GIB = 1024 ** 3;
const room = { memoryBytes: 64 * GIB, cores: 16, card: undefined, weightBytes: 1 * GIB };
/** Memory as these cards report it, and the weights of a published pack. */
const [T4, L4, H100] = [15, 22.5, 79.6].map((gib) => ({ memoryBytes: gib * GIB }));
const MUSETALK = 1.8 * GIB;
const HIGHSYNC = 6.5 * GIB;

test.each([
  ['cores bound a machine with much memory', { ...room }, 8],
  ['memory bounds a machine with many cores', { ...room, memoryBytes: 16 * GIB }, 2],
  ['large weights leave room for fewer processes', { ...room, weightBytes: 6 * GIB }, 2],
  ['a core that is left over is no process', { ...room, cores: 7 }, 3],
  ['a card is shared by two processes, however large', { ...room, card: H100, weightBytes: HIGHSYNC }, 2],
  ['as far as they fit into it', { ...room, card: L4, weightBytes: MUSETALK }, 2],
  ['a smaller card carries one', { ...room, card: T4, weightBytes: MUSETALK }, 1],
  ['larger weights take the place of the second', { ...room, card: L4, weightBytes: HIGHSYNC }, 1],
  ['a card that does not say how large it is carries one', { ...room, card: { memoryBytes: undefined } }, 1],
  ['the processor bounds what a card could carry', { ...room, card: H100, cores: 2 }, 1],
  ['a machine too small for one process still gets one', { ...room, memoryBytes: 1 * GIB, cores: 1 }, 1],
])('%s', (_what, machine, slots) => {
  expect(machineSlots(machine)).toBe(slots);
});
