import { LANDMARK_VALUES } from '@lipsync/engines';
import { sampleFace } from './face-samples';
import { lipsTouch } from './lip-contact';
import { type Picture } from './pictures';

/** A face that looks straight: eyes 100 pixels apart, the base of the nose at 100, 60. */
const SIZE = { width: 200, height: 160 };
const LANDMARKS = new Float32Array(LANDMARK_VALUES);
const put = (number: number, x: number, y: number): void => LANDMARKS.set([x, y], 2 * number);
for (let i = 36; i < 42; i++) put(i, 50, 10);
for (let i = 42; i < 48; i++) put(i, 150, 10);
put(33, 100, 60);
for (const [number, x, y] of [
  ...([48, 54] as const).map((number, i) => [number, 65 + 70 * i, 95] as const),
  [51, 100, 86],
  [62, 100, 94],
  [66, 100, 96],
  [57, 100, 106],
] as const)
  put(number, x, y);

type Color = readonly [brightness: number, redness: number];
const SKIN: Color = [140, 147];
const UPPER_LIP: Color = [90, 162];
const LOWER_LIP: Color = [115, 160];
const TEETH: Color = [140, 149];
const INSIDE: Color = [30, 133];

/** Lips that are parted from one row to another by what has a color. */
function mouth(
  from: number,
  to: number,
  between: Color,
  lips: readonly [Color, Color] = [UPPER_LIP, LOWER_LIP],
): Picture {
  const { width, height } = SIZE;
  const luma = width * height;
  const data = new Uint8Array((luma * 3) / 2).fill(128);
  const colorAt = (y: number): Color => {
    if (y < 86 || y > 106) return SKIN;
    if (y >= from && y < to) return between;
    return lips[y < from ? 0 : 1];
  };
  for (let i = 0; i < luma; i++) data[i] = colorAt(Math.floor(i / width))[0];
  for (let i = 0; i < luma / 4; i++) data[luma * 1.25 + i] = colorAt(2 * Math.floor((2 * i) / width))[1];
  return { ...SIZE, data };
}

const touch = (picture: Picture): boolean | null => lipsTouch(sampleFace(picture, LANDMARKS));

test('lips with nothing or a thin dark line between them touch', () => {
  expect(touch(mouth(95, 95, INSIDE))).toBe(true);
  expect(touch(mouth(94, 96, [45, 160]))).toBe(true);
});

test('the pale inside of a lip, which does not stand out like a tooth, keeps no lips apart', () => {
  expect(touch(mouth(93, 97, [115, 152]))).toBe(true);
});

test('a strip of teeth or a dark gap keeps lips apart', () => {
  expect(touch(mouth(93, 97, TEETH))).toBe(false);
  expect(touch(mouth(92, 98, INSIDE))).toBe(false);
});

test('lips of the color of the skin are not judged', () => {
  expect(touch(mouth(94, 96, INSIDE, [SKIN, SKIN]))).toBeNull();
});
