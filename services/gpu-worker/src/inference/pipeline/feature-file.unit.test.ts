import fs, { readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { testFolder } from '@lipsync/testkit';
import { type FeatureOrigin } from '../../protocol/feature-header';
import { type FeatureFile, openFeatureFile } from './feature-file';

const origin: FeatureOrigin = { version: '1', values: 3, analyzerVersion: 'a@1.0.0+0123', trackVersion: '2' };

describe('feature file', () => {
  const at = testFolder({ each: true });
  let path: string;
  const open: FeatureFile[] = [];
  const opened = (from: FeatureOrigin = origin): FeatureFile => {
    const file = openFeatureFile(path, from);
    open.push(file);
    return file;
  };
  const read = (file: FeatureFile, index: number): number[] => {
    const target = new Float32Array(5);
    file.read(index, target, 1);
    return [...target];
  };

  beforeEach(() => {
    path = at('features.bin');
  });
  afterEach(() => {
    for (const file of open.splice(0)) file.close();
  });

  test('what one process writes, in any order and from anywhere in an array, another reads', () => {
    const first = opened();
    first.write(4, Float32Array.of(9, 9, 1.5, -2.5, 3.25), 2);
    first.write(0, Float32Array.of(7, 8, 9), 0);
    expect(first.added()).toBe(2);

    const second = opened();
    expect([0, 1, 2, 3, 4, 5].map((index) => second.has(index))).toEqual([
      true,
      false,
      false,
      false,
      true,
      false,
    ]);
    expect(read(second, 4)).toEqual([0, 1.5, -2.5, 3.25, 0]);
    expect(read(second, 0)).toEqual([0, 7, 8, 9, 0]);
    expect(second.added()).toBe(0);
  });

  test('a rewritten frame counts as added, and none counts twice', () => {
    opened().write(0, Float32Array.of(1, 2, 3), 0);
    const file = opened();
    file.write(0, Float32Array.of(4, 5, 6), 0);
    expect(file.added()).toBe(1);
    file.write(1, Float32Array.of(7, 8, 9), 0);
    file.write(1, Float32Array.of(7, 8, 9), 0);
    expect(file.added()).toBe(2);
    expect([read(file, 0), read(file, 1)]).toEqual([
      [0, 4, 5, 6, 0],
      [0, 7, 8, 9, 0],
    ]);
  });

  test('a closed file can be neither written nor read: its descriptor may belong to another file by then', () => {
    const file = opened();
    file.write(0, Float32Array.of(1, 2, 3), 0);
    file.close();
    expect(() => file.write(1, Float32Array.of(1, 2, 3), 0)).toThrow('closed');
    expect(() => read(file, 0)).toThrow('closed');
    expect(file.added()).toBe(1);
  });

  test('reading a missing frame is an error, not zeros', () => {
    expect(() => read(opened(), 0)).toThrow(RangeError);
  });

  test.each<[string, Partial<FeatureOrigin>]>([
    ['another meaning of the values', { version: '2' }],
    ['another number of values', { values: 4 }],
    ['another analyzer', { analyzerVersion: 'b@1.0.0+0123' }],
    ['another kind of track', { trackVersion: '3' }],
  ])('features of %s are discarded, never misread', (_, other) => {
    opened().write(0, Float32Array.of(1, 2, 3), 0);
    const file = opened({ ...origin, ...other });
    expect(file.has(0)).toBe(false);
    expect(statSync(path).size).toBe(512);
  });

  test('a file of another kind is discarded', () => {
    writeFileSync(path, 'this was something else '.repeat(100));
    expect(opened().has(0)).toBe(false);
    expect(readFileSync(path).subarray(0, 4).toString()).toBe('LSFF');
  });

  test('a truncated file still has the frames before the cut', () => {
    const first = opened();
    for (let index = 0; index < 5; index++) first.write(index, Float32Array.of(index, 1, 2), 0);
    truncateSync(path, statSync(path).size - 20);
    const file = opened();
    expect([0, 1, 2, 3, 4].map((index) => file.has(index))).toEqual([true, true, true, false, false]);
    expect(read(file, 2)).toEqual([0, 2, 1, 2, 0]);
    // The file is complete again past the cut, except for the frame that was cut.
    file.write(4, Float32Array.of(4, 1, 2), 0);
    expect([2, 3, 4].map((index) => opened().has(index))).toEqual([true, false, true]);
  });

  test.each([0, 1, 4, 10, 15])(
    'a frame of which a full disk took %d bytes is absent, even once there is room again',
    (taken) => {
      const file = opened();
      file.write(0, Float32Array.of(1, 2, 3), 0);
      withRoomFor(taken, () => expect(() => file.write(1, Float32Array.of(4, 5, 6), 0)).toThrow('ENOSPC'));
      expect([file.has(1), file.added()]).toEqual([false, 1]);
      file.write(2, Float32Array.of(7, 8, 9), 0);
      const again = opened();
      expect([0, 1, 2].map((index) => again.has(index))).toEqual([true, false, true]);
      expect(read(again, 0)).toEqual([0, 1, 2, 3, 0]);
    },
  );

  test('a frame whose rewrite failed is never a mixture of old and new', () => {
    const file = opened();
    file.write(0, Float32Array.of(1, 2, 3), 0);
    withRoomFor(10, () => expect(() => file.write(0, Float32Array.of(4, 5, 6), 0)).toThrow('ENOSPC'));
    expect([file.has(0), opened().has(0)]).toEqual([false, false]);
  });

  test('a file that cannot be opened as a feature file is not left open', () => {
    const device = at('full');
    symlinkSync('/dev/full', device);
    // Counts open descriptors, which are links in this folder.
    const before = readdirSync('/dev/fd').length;
    expect(() => openFeatureFile(device, origin)).toThrow();
    expect(() => openFeatureFile(path, { ...origin, analyzerVersion: 'a'.repeat(512) })).toThrow(RangeError);
    expect(() => withRoomFor(100, () => openFeatureFile(path, origin))).toThrow('ENOSPC');
    expect(readdirSync('/dev/fd')).toHaveLength(before);
  });
});

/** Runs `act` with a disk that has room for this many more bytes; of a longer write it takes what fits. */
function withRoomFor(bytes: number, act: () => void): void {
  const { writeSync } = fs;
  let room = bytes;
  const disk = jest.spyOn(fs, 'writeSync').mockImplementation((...args: unknown[]) => {
    const [file, from, offset, length, position] = args as [number, Uint8Array, number, number, number];
    if (room === 0) throw new Error('ENOSPC: no space left on device, write');
    const taken = Math.min(length, room);
    room -= taken;
    return writeSync(file, from, offset, taken, position);
  });
  try {
    act();
  } finally {
    disk.mockRestore();
  }
}
