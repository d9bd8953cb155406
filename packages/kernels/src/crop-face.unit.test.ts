import { createCropFace } from './crop-face';
import { type PictureFormat, pictureLayout } from './picture';
import { LANCZOS } from './resampling';

const SIZE = 16;
const format: PictureFormat = {
  width: 64,
  height: 48,
  matrix: 'bt709',
  range: 'limited',
  depth: 8,
  transfer: 'sdr',
};

function flat(y: number, u: number, v: number): Uint8Array {
  const { bytes, uOffset, vOffset } = pictureLayout(format);
  return new Uint8Array(bytes).fill(y, 0, uOffset).fill(u, uOffset, vOffset).fill(v, vOffset);
}

function cropped(picture: Uint8Array, as: Partial<PictureFormat> = {}): number[] {
  const target = new Float32Array(3 * SIZE * SIZE + 2).fill(9);
  createCropFace({ ...format, ...as }, SIZE)(picture, { x1: 10, y1: 8, x2: 40, y2: 31 }, target, 1);
  expect([target[0], target[target.length - 1]]).toEqual([9, 9]);
  return [0, 1, 2].map((channel) => target[1 + channel * SIZE * SIZE + 100] ?? NaN);
}

describe('color', () => {
  // Code values of full-scale primaries, from the definitions of both matrices.
  test.each([
    ['white', 'bt709', 'limited', [235, 128, 128], [1, 1, 1]],
    ['black', 'bt709', 'limited', [16, 128, 128], [-1, -1, -1]],
    ['white', 'bt601', 'full', [255, 128, 128], [1, 1, 1]],
    ['red', 'bt709', 'limited', [63, 102, 240], [1, -1, -1]],
    ['red', 'bt601', 'limited', [81, 90, 240], [1, -1, -1]],
    ['green', 'bt709', 'limited', [173, 42, 26], [-1, 1, -1]],
    ['blue', 'bt601', 'full', [29, 255, 107], [-1, -1, 1]],
  ] as const)('%s is recovered from %s %s code values', (_, matrix, range, [y, u, v], rgb) => {
    cropped(flat(y, u, v), { matrix, range }).forEach((value, channel) =>
      expect(Math.abs(value - (rgb[channel] ?? NaN))).toBeLessThan(0.015),
    );
  });
});

test('a normalized crop has the values of any other, scaled and shifted by channel', () => {
  const picture = flat(0, 128, 128).map((_, i) => (i * 37) % 256);
  const box = { x1: 10, y1: 8, x2: 40, y2: 31 };
  const [plain, normalized] = [new Float32Array(3 * SIZE * SIZE), new Float32Array(3 * SIZE * SIZE)];
  const normalization = [
    { gain: 2, term: 0 },
    { gain: 0.5, term: -3 },
    { gain: 1, term: 0.25 },
  ];
  createCropFace(format, SIZE)(picture, box, plain, 0);
  createCropFace(format, SIZE, LANCZOS, normalization)(picture, box, normalized, 0);
  const wanted = plain.map((value, i) => {
    const { gain, term } = normalization[Math.floor(i / (SIZE * SIZE))] ?? { gain: NaN, term: NaN };
    return gain * value + term;
  });
  expect(normalized).toEqual(wanted);
});

test('the box, even a fractional one, covers the whole square', () => {
  const picture = flat(16, 128, 128);
  for (let y = 0; y < format.height; y++) {
    for (let x = 0; x < format.width; x++) picture[y * format.width + x] = 16 + 2 * x + y;
  }
  const target = new Float32Array(3 * SIZE * SIZE);
  const box = { x1: 10.25, y1: 8.5, x2: 40.25, y2: 32.5 };
  createCropFace(format, SIZE)(picture, box, target, 0);
  for (const [row, column] of [
    [0, 0],
    [3, 11],
    [15, 15],
  ] as const) {
    const x = box.x1 + ((column + 0.5) * 30) / SIZE - 0.5;
    const y = box.y1 + ((row + 0.5) * 24) / SIZE - 0.5;
    expect(target[row * SIZE + column]).toBeCloseTo((2 * (2 * x + y)) / 219 - 1, 2);
  }
});
