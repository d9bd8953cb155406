import { audioWindow, soundingSteps, WINDOW_STEPS } from './musetalk-audio-window';

/** The window as the generator sees it: numbers of steps, null where there are zeros. */
function seen(frame: number, steps: number): (number | null)[] {
  const { from, to, place } = audioWindow(frame, steps);
  const window = Array<number | null>(WINDOW_STEPS).fill(null);
  for (let step = from; step < to; step++) window[place + step - from] = step;
  return window;
}

test('the first frame sees 80 ms of nothing, then the first 120 ms', () => {
  expect(seen(0, 50)).toEqual([null, null, null, null, 0, 1, 2, 3, 4, 5]);
});

test('frame i sees steps 2i−4 … 2i+5, which is 80 ms before its start to 120 ms after it', () => {
  expect(seen(10, 50)).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
});

test('beyond the end of the recording there are zeros, not repeats', () => {
  expect(seen(24, 50)).toEqual([44, 45, 46, 47, 48, 49, null, null, null, null]);
  expect(seen(200, 50)).toEqual(Array(10).fill(null));
});

test('a recording shorter than the window fills the middle of it', () => {
  expect(seen(1, 3)).toEqual([null, null, 0, 1, 2, null, null, null, null, null]);
});

test('steps that the encoder made of its own zero padding do not count', () => {
  expect(soundingSteps(16_000, 16_000)).toBe(50);
  expect(soundingSteps(15_999, 16_000)).toBe(49);
});
