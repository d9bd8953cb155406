import { readAudioWindow, soundingSteps } from './musetalk-audio-window';

/** Steps that carry their own number (from 1), two values each. */
const numbered = (steps: number) => ({
  steps,
  stepSize: 2,
  data: Float32Array.from({ length: steps * 2 }, (_, i) => 1 + (i >> 1)),
});

function windowOf(frame: number, steps: number): number[] {
  const target = new Float32Array(24).fill(99);
  readAudioWindow(numbered(steps), frame, target, 2);
  expect([target[0], target[1], target[22], target[23]]).toEqual([99, 99, 99, 99]);
  return Array.from(target.subarray(2, 22)).filter((_, i) => i % 2 === 0);
}

test('the first frame sees 80 ms of nothing, then the first 120 ms', () => {
  expect(windowOf(0, 50)).toEqual([0, 0, 0, 0, 1, 2, 3, 4, 5, 6]);
});

test('frame i sees steps 2i−4 … 2i+5, which is 80 ms before its start to 120 ms after it', () => {
  expect(windowOf(10, 50)).toEqual([17, 18, 19, 20, 21, 22, 23, 24, 25, 26]);
});

test('beyond the end of the recording there are zeros, not repeats', () => {
  expect(windowOf(24, 50)).toEqual([45, 46, 47, 48, 49, 50, 0, 0, 0, 0]);
  expect(windowOf(200, 50)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
});

test('steps that the encoder made of its own zero padding do not count', () => {
  expect(soundingSteps(16_000, 16_000)).toBe(50);
  expect(soundingSteps(15_999, 16_000)).toBe(49);
});
