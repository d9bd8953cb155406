import { connectedRuns, faceRuns, smoothRun } from './smoothing';

describe('smoothing', () => {
  const whole = (length: number) => ({ start: 0, end: length });

  describe('faceRuns', () => {
    test('runs end where the face is lost and where a shot is cut', () => {
      const found = Uint8Array.of(0, 1, 1, 1, 0, 0, 1, 1, 1, 1);
      const cuts = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 1, 0);
      expect(faceRuns(found, cuts)).toEqual([
        { start: 1, end: 4 },
        { start: 6, end: 8 },
        { start: 8, end: 10 },
      ]);
    });
  });

  describe('smoothRun', () => {
    test('a steady motion passes unchanged up to both ends', () => {
      const line = Float32Array.from({ length: 20 }, (_, i) => 5 + 3 * i);
      const smoothed = line.slice();
      smoothRun(smoothed, 1, whole(20), { first: 0, last: 1 }, 2);
      smoothed.forEach((value, i) => expect(value).toBeCloseTo(line[i] ?? 0, 3));
    });

    test('jitter shrinks by more than half, including the first frames', () => {
      const jitter = Float32Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 1 : -1));
      smoothRun(jitter, 1, whole(40), { first: 0, last: 1 }, 2);
      expect(Math.max(...jitter.map(Math.abs))).toBeLessThan(0.5);
    });

    test('a peak stays at its frame, without lag', () => {
      const bump = Float32Array.from({ length: 41 }, (_, i) => Math.exp(-((i - 17) ** 2) / 18));
      smoothRun(bump, 1, whole(41), { first: 0, last: 1 }, 2);
      expect(bump.indexOf(Math.max(...bump))).toBe(17);
    });

    test('frames outside the run and channels outside the range keep their exact values', () => {
      const table = Float32Array.from({ length: 30 }, (_, i) => (i * 7919) % 13);
      const before = table.slice();
      smoothRun(table, 3, { start: 2, end: 8 }, { first: 1, last: 2 }, 2);
      const changed = [...table.keys()].filter((i) => table[i] !== before[i]);
      expect(changed.length).toBeGreaterThan(0);
      for (const i of changed) {
        expect(i % 3).toBe(1);
        expect(Math.floor(i / 3)).toBeGreaterThanOrEqual(2);
        expect(Math.floor(i / 3)).toBeLessThan(8);
      }
    });
  });
});

describe('connected runs', () => {
  const flags = (text: string) => (frame: number) => text[frame] === '1';

  test.each([
    ['0110', '1111', [[1, 3]]],
    [
      '1111',
      '1101',
      [
        [0, 2],
        [2, 4],
      ],
    ],
    [
      '1011',
      '1110',
      [
        [0, 1],
        [2, 3],
        [3, 4],
      ],
    ],
    ['0000', '1111', []],
  ])('frames %s that continue %s', (present, continues, expected) => {
    const runs = connectedRuns(4, flags(present), flags(continues));
    expect(runs.map(({ start, end }) => [start, end])).toEqual(expected);
  });
});
