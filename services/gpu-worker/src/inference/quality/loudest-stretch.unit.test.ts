import { loudestStretch } from './loudest-stretch';

const all = (count: number, value = true): boolean[] => Array.from({ length: count }, () => value);

test('the stretch with the most speech is chosen', () => {
  expect(loudestStretch([0, 0, 1, 5, 4, 0, 1], all(7), 2)).toEqual({ from: 3, to: 5 });
});

test('speech over frames without a face does not count', () => {
  const shown = [true, true, true, false, false, true, true];
  expect(loudestStretch([0, 2, 1, 5, 4, 0, 1], shown, 2)).toEqual({ from: 1, to: 3 });
});

test('an output shorter than the stretch is taken whole', () => {
  expect(loudestStretch([1, 2], all(2), 75)).toEqual({ from: 0, to: 2 });
});
