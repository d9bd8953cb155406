import { blankPicture } from './face-detector';
import { MIRRORED_LANDMARKS, mirrorRows } from './landmark-finder';

test('landmarks pair up: mirrored twice they are themselves', () => {
  expect([...MIRRORED_LANDMARKS].sort((a, b) => a - b)).toEqual(Array.from({ length: 68 }, (_, i) => i));
  MIRRORED_LANDMARKS.forEach((mirror, index) => expect(MIRRORED_LANDMARKS[mirror]).toBe(index));
});

test('rows are reversed pixel by pixel, colors keep their order', () => {
  const picture = blankPicture(3, 2);
  picture.data.set([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  mirrorRows(picture);
  expect([...picture.data]).toEqual([7, 8, 9, 4, 5, 6, 1, 2, 3, 17, 18, 19, 14, 15, 16, 11, 12, 13]);
});
