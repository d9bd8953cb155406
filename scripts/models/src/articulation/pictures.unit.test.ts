import { LANDMARK_VALUES, MOUTH } from '@lipsync/engines';
import { detail, flash, lipUnevenness, mouthBox, type Picture, skinAroundLips } from './pictures';

const SIZE = { width: 64, height: 48 };
const LIPS = Array.from({ length: 12 }, (_, i) => ({
  x: 32 + 20 * Math.cos((Math.PI * i) / 6),
  y: 24 + 10 * Math.sin((Math.PI * i) / 6),
}));

/** A picture with this brightness at every pixel, without color. */
function picture(brightness: (x: number, y: number) => number): Picture {
  const { width, height } = SIZE;
  const data = new Uint8Array((width * height * 3) / 2).fill(128);
  for (let i = 0; i < width * height; i++) data[i] = brightness(i % width, Math.floor(i / width));
  return { ...SIZE, data };
}

const box = mouthBox(LIPS, SIZE);

test('the box holds the lips and some skin, and stays inside the picture', () => {
  expect(box).toEqual({ x1: 6, y1: 8, x2: 58, y2: 40 });
  expect(
    mouthBox(
      LIPS.map(({ x, y }) => ({ x: x + 30, y: y - 20 })),
      SIZE,
    ),
  ).toMatchObject({ y1: 1, x2: 63 });
});

test('blur halves the detail', () => {
  const sharp = picture((x) => 100 + 40 * (Math.floor(x / 2) % 2));
  const blurred = picture((x) => 100 + 40 * (x % 4 < 2 ? 0.25 : 0.75));
  expect(detail(blurred, box) / detail(sharp, box)).toBeCloseTo(0.5);
});

test('teeth that are left on closed lips make them uneven', () => {
  const clean = picture((_, y) => 90 + (y % 3));
  const smeared = picture((x, y) => (Math.abs(y - 24) < 3 && Math.abs(x - 32) < 12 ? 150 : 90 + (y % 3)));
  expect(lipUnevenness(clean, LIPS)).toBeLessThan(2);
  expect(lipUnevenness(smeared, LIPS)).toBeGreaterThan(8);
});

test('light that changes steadily does not flash; one frame that differs does', () => {
  const even = (level: number) => picture(() => level);
  expect(flash([even(100), even(105), even(110)], box)).toBe(0);
  expect(flash([even(100), even(105), even(100)], box)).toBe(10);
});

test('what is above and below the lips ends between nose, lips and chin', () => {
  const landmarks = new Float32Array(LANDMARK_VALUES);
  for (const [i, { x, y }] of LIPS.entries()) landmarks.set([x, y], 2 * (MOUTH[0] + i));
  landmarks.set([32, 4], 2 * 33);
  landmarks.set([32, 46], 2 * 8);
  expect(skinAroundLips(landmarks, SIZE)).toEqual({
    above: { x1: 12, y1: 6, x2: 52, y2: 12 },
    below: { x1: 12, y1: 36, x2: 52, y2: 43 },
  });
  landmarks.set([32, 13], 2 * 33);
  expect(skinAroundLips(landmarks, SIZE).above).toBeNull();
});
