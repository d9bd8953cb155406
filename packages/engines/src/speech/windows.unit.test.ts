import { constantClock, middleOf } from '@lipsync/domain';
import {
  positionalEncoding,
  recordedStep,
  soundingSteps,
  WINDOW_STEPS,
  type WindowEdges,
  windowRange,
  windowStart,
} from './windows';

describe('whisper window', () => {
  /** The window as the generator sees it: step numbers, −1 for zeros. */
  const seen = (seconds: number, steps: number, edges: WindowEdges): number[] =>
    Array.from({ length: WINDOW_STEPS }, (_, place) =>
      recordedStep(windowStart(seconds).step + place, steps, edges),
    );
  const middle = (frame: number, rate = 25): number => (frame + 0.5) / rate;

  test.each<[string, number, number, WindowEdges, number[]]>([
    [
      '100 ms before its middle to 100 ms after it',
      10,
      50,
      'zeros',
      [16, 17, 18, 19, 20, 21, 22, 23, 24, 25],
    ],
    ['the same', 10, 50, 'repeat', [16, 17, 18, 19, 20, 21, 22, 23, 24, 25]],
    ['zeros before the recording', 0, 50, 'zeros', [-1, -1, -1, -1, 0, 1, 2, 3, 4, 5]],
    ['zeros after it', 24, 50, 'zeros', [44, 45, 46, 47, 48, 49, -1, -1, -1, -1]],
    ['zeros on both sides of a short one', 1, 3, 'zeros', [-1, -1, 0, 1, 2, -1, -1, -1, -1, -1]],
    ['the first step repeated', 0, 50, 'repeat', [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]],
    ['the last step repeated', 26, 50, 'repeat', [48, 49, 49, 49, 49, 49, 49, 49, 49, 49]],
    ['only the last step long after the end', 200, 50, 'repeat', Array<number>(10).fill(49)],
    ['zeros where there is no step to repeat', 3, 0, 'repeat', Array<number>(10).fill(-1)],
  ])('a frame of 25 a second sees %s', (_, frame, steps, edges, expected) => {
    expect(seen(middle(frame), steps, edges)).toEqual(expected);
  });

  test('at 25 frames a second every window begins with a whole step, for hours', () => {
    const clock = constantClock({ num: 25, den: 1 }, 100_000);
    const starts = Array.from({ length: 100_000 }, (_, frame) => windowStart(middleOf(clock, frame)));
    expect(starts.filter(({ step, part }, frame) => step !== 2 * frame - 4 || part !== 0)).toEqual([]);
  });

  test('at other rates a window begins where its time says, between two steps', () => {
    for (const rate of [24, 30_000 / 1001, 60, 3]) {
      for (let frame = 0; frame < 500; frame++) {
        const { step, part } = windowStart(middle(frame, rate));
        expect([part >= 0, part < 1]).toEqual([true, true]);
        expect((step + part + WINDOW_STEPS / 2) / 50).toBeCloseTo(middle(frame, rate), 6);
      }
    }
  });

  test('the range of some windows covers every step in them and no others', () => {
    for (const edges of ['zeros', 'repeat'] as const) {
      for (const [steps, rate] of [0, 1, 3, 50].flatMap((count) =>
        [25, 30].map((rate) => [count, rate] as const),
      )) {
        for (const [first, last] of [
          [0, 0],
          [0, 3],
          [5, 9],
          [22, 30],
          [90, 99],
        ] as const) {
          const inside = new Set<number>();
          for (let frame = first; frame <= last; frame++) {
            const { step, part } = windowStart(middle(frame, rate));
            for (let place = 0; place < WINDOW_STEPS + (part > 0 ? 1 : 0); place++) {
              const used = recordedStep(step + place, steps, edges);
              if (used >= 0) inside.add(used);
            }
          }
          const { from, to } = windowRange(middle(first, rate), middle(last, rate), steps, edges);
          expect(Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)).toEqual(
            [...inside].sort((a, b) => a - b),
          );
        }
      }
    }
  });

  test('steps that the encoder derived from its own padding do not count', () => {
    expect(soundingSteps(16_000, 16_000)).toBe(50);
    expect(soundingSteps(15_999, 16_000)).toBe(49);
  });

  test('every 320 samples give a step, for any number of samples', () => {
    const steps = Array.from({ length: 15_000 }, (_, k) => k);
    expect(steps.filter((k) => soundingSteps(320 * k, 16_000) !== k)).toEqual([]);
  });
});

describe('positional encoding', () => {
  test('the position code matches the reference network', () => {
    const code = positionalEncoding(50, 384);
    const expected: [number, number, number][] = [
      [0, 0, 0],
      [0, 1, 1],
      [1, 0, 0.841471],
      [1, 1, 0.5403023],
      [1, 2, 0.8152506],
      [49, 0, -0.9537527],
      [49, 383, 0.9999868],
      [25, 100, 0.7645215],
    ];
    for (const [position, column, value] of expected) {
      expect(code[position * 384 + column]).toBeCloseTo(value, 6);
    }
  });
});
