import { type Clock, constantClock, secondsAt } from '@lipsync/domain';
import { connectedRuns, faceRuns, smoothRun } from './smoothing';

describe('smoothing', () => {
  const whole = (length: number) => ({ start: 0, end: length });
  const timed = (clock: Clock, held: readonly number[] = []) => ({ clock, held: Uint8Array.from(held) });
  const at = (rate: number, frames: number) => timed(constantClock({ num: rate, den: 1 }, frames));

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
      smoothRun(smoothed, 1, whole(20), { first: 0, last: 1 }, 0.08, at(25, 20));
      smoothed.forEach((value, i) => expect(value).toBeCloseTo(line[i] ?? 0, 3));
    });

    test('jitter shrinks by more than half, including the first frames', () => {
      const jitter = Float32Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 1 : -1));
      smoothRun(jitter, 1, whole(40), { first: 0, last: 1 }, 0.08, at(25, 40));
      expect(Math.max(...jitter.map(Math.abs))).toBeLessThan(0.5);
    });

    test('a peak stays at its frame, without lag', () => {
      const bump = Float32Array.from({ length: 41 }, (_, i) => Math.exp(-((i - 17) ** 2) / 18));
      smoothRun(bump, 1, whole(41), { first: 0, last: 1 }, 0.08, at(25, 41));
      expect(bump.indexOf(Math.max(...bump))).toBe(17);
    });

    test('at any rate, constant or not, a second of motion is smoothed as much', () => {
      const sway = (seconds: number): number =>
        Math.sin(2 * Math.PI * seconds) + Math.sin(12 * Math.PI * seconds);
      const uneven = {
        timescale: 1000,
        ticks: Uint32Array.from({ length: 100 }, (_, i) => i * 25 + 8 * (i % 3)),
      };
      const smoothed = [24, 25, 60]
        .map((rate) => constantClock({ num: rate, den: 1 }, 2 * rate))
        .concat(uneven);
      const middles = smoothed.map((clock) => {
        const frames = clock.ticks.length - 1;
        const table = Float32Array.from({ length: frames }, (_, i) => sway(secondsAt(clock, i)));
        smoothRun(table, 1, whole(frames), { first: 0, last: 1 }, 0.08, timed(clock));
        return [...table.keys()].map((i) => [secondsAt(clock, i), table[i] ?? NaN] as const);
      });
      for (const rows of middles) {
        for (const [seconds, value] of rows.filter(([time]) => time > 0.3 && time < 1.5)) {
          // What a Gaussian of 80 ms leaves of 1 Hz, and of 6 Hz next to nothing.
          expect(Math.abs(value - 0.88 * Math.sin(2 * Math.PI * seconds))).toBeLessThan(0.06);
        }
      }
    });

    test('a picture counts once, however long it is held, and stays still while it is', () => {
      const clock = constantClock({ num: 25, den: 1 }, 60);
      const held = Array.from({ length: 60 }, (_, i) => Number(i % 4 > 0));
      const positions = Array.from({ length: 60 }, (_, i) => 10 * Math.floor(i / 4) + (i % 8 < 4 ? 2 : -2));
      const table = Float32Array.from(positions);
      smoothRun(table, 1, whole(60), { first: 0, last: 1 }, 0.24, timed(clock, held));
      const pictures = table.filter((_, i) => i % 4 === 0);
      const alone = Float32Array.from(positions.filter((_, i) => i % 4 === 0));
      const slow = { timescale: 25, ticks: Uint32Array.from({ length: 16 }, (_, i) => 4 * i) };
      smoothRun(alone, 1, whole(15), { first: 0, last: 1 }, 0.24, timed(slow));
      expect(pictures).toEqual(alone);
      for (let i = 0; i < 60; i++) expect(table[i]).toBe(table[i - (i % 4)]);
    });

    test('frames outside the run and channels outside the range keep their exact values', () => {
      const table = Float32Array.from({ length: 30 }, (_, i) => (i * 7919) % 13);
      const before = table.slice();
      smoothRun(table, 3, { start: 2, end: 8 }, { first: 1, last: 2 }, 0.08, at(25, 10));
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
