import { type Box, type PictureFormat, pictureLayout } from '@lipsync/kernels';
import { createCropForParsing, PARSING_SIDE, parsingSquare } from './parsing-square';

const format: PictureFormat = { width: 96, height: 80, matrix: 'bt709', range: 'full' };
const layout = pictureLayout(format);
const AREA = PARSING_SIDE * PARSING_SIDE;

test('the square is centred on the face and half as large again', () => {
  expect(parsingSquare({ x1: 10, y1: 20, x2: 30, y2: 60 })).toEqual({ x1: -10, y1: 10, x2: 50, y2: 70 });
});

const cornerFace: Box = { x1: 56, y1: 40, x2: 96, y2: 80 };

/** The parser's input for a grey picture around a face in its lower right corner, from index 2 of the array. */
function grey(level: number, face = cornerFace): (x: number, y: number) => number[] {
  const picture = new Uint8Array(layout.bytes).fill(level, 0, layout.uOffset).fill(128, layout.uOffset);
  const target = new Float32Array(3 * AREA + 4).fill(99);
  createCropForParsing(format)(picture, face, target, 2);
  expect([target[0], target[1], target.at(-2), target.at(-1)]).toEqual([99, 99, 99, 99]);
  return (x, y) => [0, 1, 2].map((channel) => target[2 + channel * AREA + y * PARSING_SIDE + x] ?? NaN);
}

const expectColours = (seen: readonly number[], wanted: readonly number[]): void =>
  seen.forEach((value, i) => expect(value).toBeCloseTo(wanted[i] ?? NaN, 3));

test('white and black have the values of ImageNet’s normalisation', () => {
  expectColours(grey(255)(100, 100), [0.515 / 0.229, 0.544 / 0.224, 0.594 / 0.225]);
  expectColours(grey(0)(100, 100), [-0.485 / 0.229, -0.456 / 0.224, -0.406 / 0.225]);
});

test('outside the picture is black, not a repeated edge', () => {
  // The square extends from 46 to 106 and from 30 to 90: its last sixth is outside on both axes.
  const seen = grey(255);
  const black = [-0.485 / 0.229, -0.456 / 0.224, -0.406 / 0.225];
  const white = [0.515 / 0.229, 0.544 / 0.224, 0.594 / 0.225];
  for (const [x, y] of [
    [426, 426],
    [0, 426],
    [426, 0],
  ] as const) {
    expectColours(seen(x, y), white);
  }
  for (const [x, y] of [
    [427, 100],
    [100, 427],
    [511, 511],
  ] as const) {
    expectColours(seen(x, y), black);
  }
});

test('a pixel at the border of the picture counts as inside if its centre is', () => {
  // One pixel further to the right than above: the picture ends at 418.13 of 512.
  const seen = grey(255, { ...cornerFace, x1: 57, x2: 97 });
  expect(seen(417, 100)[0]).toBeGreaterThan(0);
  expect(seen(418, 100)[0]).toBeLessThan(0);
});

test('a face outside the picture gives a black square', () => {
  const picture = new Uint8Array(layout.bytes).fill(200);
  const target = new Float32Array(3 * AREA);
  createCropForParsing(format)(picture, { x1: 300, y1: 300, x2: 340, y2: 340 }, target, 0);
  const [black] = target;
  expect(target.subarray(0, AREA).every((value) => value === black)).toBe(true);
});
