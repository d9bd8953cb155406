import fc from 'fast-check';
import { contextPasses, contextWindows } from './context-passes';

const HIGHSYNC = { window: 12, overlap: 3 };

/** Windows in the format of the golden vectors: frames seen → frames that the output counts for, both inclusive. */
function windowsOf(frames: number, step: number): string[] {
  return Array.from(
    contextWindows(frames, step, HIGHSYNC),
    ({ start, from, to }) => `[${start}–${start + 11}]→${from}–${to - 1}`,
  );
}

test.each([
  [0, ['[0–11]→0–11', '[8–19]→9–19', '[8–19]→18–19']],
  [1, ['[0–11]→0–10', '[8–19]→8–19', '[8–19]→17–19']],
  [5, ['[0–11]→0–6', '[4–15]→4–15', '[8–19]→13–19']],
])('windows over 20 frames in step %i are those of HighSync', (step, windows) => {
  expect(windowsOf(20, step)).toEqual(windows);
});

test('a run of exactly one window is one window if the shift is zero, and is covered in every other step', () => {
  expect(windowsOf(12, 0)).toEqual(['[0–11]→0–11']);
  expect(windowsOf(12, 12)).toEqual(['[0–11]→0–11']);
  expect(windowsOf(12, 11)).toEqual(['[0–11]→0–0', '[0–11]→0–9', '[0–11]→7–11']);
});

test('a run that does not fill a window is refused, since it must be padded first', () => {
  expect(() => [...contextWindows(11, 0, HIGHSYNC)]).toThrow(RangeError);
});

test('frames that several windows cover take the mean of all of them, including equal ones', () => {
  const [first, second, ...rest] = contextPasses(20, 0, HIGHSYNC);
  expect(rest).toEqual([]);
  expect([first?.start, second?.start]).toEqual([0, 8]);
  // Frames 9–11 are in two windows; frames 18 and 19 are in two equal ones.
  expect(Array.from(first?.weights ?? [])).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5]);
  expect(Array.from(second?.weights ?? [])).toEqual([0, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1, 1, 1, 1]);
});

const anyShape = fc
  .tuple(fc.integer({ min: 1, max: 24 }), fc.nat(23))
  .map(([window, overlap]) => ({ window, overlap: overlap % window }));

test('windows stay inside and move on, none is processed twice, and weights add up to one, for any run, step and window', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.nat(50), anyShape, (more, step, shape) => {
      const frames = shape.window + more;
      const passes = [...contextPasses(frames, step, shape)];
      const sums = new Float64Array(frames);
      for (const { start, weights } of passes) {
        expect(start).toBeGreaterThanOrEqual(0);
        expect(start + shape.window).toBeLessThanOrEqual(frames);
        weights.forEach((weight, place) => (sums[start + place] = (sums[start + place] ?? 0) + weight));
      }
      const starts = passes.map(({ start }) => start);
      expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
      sums.forEach((sum) => expect(sum).toBeCloseTo(1, 5));
    }),
  );
});
