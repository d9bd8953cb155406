import { MIRRORED_LANDMARKS } from './mirrored-landmarks';

test('landmarks pair up: mirrored twice they are themselves', () => {
  expect([...MIRRORED_LANDMARKS].sort((a, b) => a - b)).toEqual(Array.from({ length: 68 }, (_, i) => i));
  MIRRORED_LANDMARKS.forEach((twin, index) => expect(MIRRORED_LANDMARKS[twin]).toBe(index));
});
