import { LANDMARK_VALUES } from '@lipsync/engines';
import { sampleFace } from './face-samples';
import { lipWidth } from './lip-width';
import { type Picture } from './pictures';

/** A face that looks straight: eyes 100 pixels apart, the base of the nose at 100, 60, the corners 70 pixels apart. */
const SIZE = { width: 200, height: 160 };
const LANDMARKS = new Float32Array(LANDMARK_VALUES);
const put = (number: number, x: number, y: number): void => LANDMARKS.set([x, y], 2 * number);
for (let i = 36; i < 42; i++) put(i, 50, 10);
for (let i = 42; i < 48; i++) put(i, 150, 10);
put(33, 100, 60);
put(48, 65, 95);
put(54, 135, 95);
put(51, 100, 86);
put(57, 100, 106);

const [SKIN, LIP] = [147, 162];

/** Lips of some pixels' width and of a redness, whose landmarks stay where they are. */
function lips(width: number, redness = LIP): Picture {
  const luma = SIZE.width * SIZE.height;
  const data = new Uint8Array((luma * 3) / 2).fill(128);
  for (let i = 0; i < luma / 4; i++) {
    const [x, y] = [2 * (i % (SIZE.width / 2)), 2 * Math.floor((2 * i) / SIZE.width)];
    const isLip = Math.abs(x + 1 - 100) <= width / 2 && y >= 86 && y <= 104;
    data[luma * 1.25 + i] = isLip ? redness : SKIN;
  }
  return { ...SIZE, data };
}

const widthOf = (picture: Picture): number | null => lipWidth(sampleFace(picture, LANDMARKS));

test('lips are as wide as their color, whatever the landmarks say', () => {
  for (const width of [44, 60, 84]) expect(widthOf(lips(width))).toBeCloseTo(width / 100, 1);
});

test('lips of little color are as wide, and those of the color of the skin are not judged', () => {
  expect(widthOf(lips(60, SKIN + 6))).toBeCloseTo(0.6, 1);
  expect(widthOf(lips(60, SKIN))).toBeNull();
});
