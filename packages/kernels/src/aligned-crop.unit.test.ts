import { createAlignedCrop } from './aligned-crop';
import { type Affine, type PictureFormat, pictureLayout } from './picture';

const SIDE = 64;
const AREA = SIDE * SIDE;
const format: PictureFormat = {
  width: 320,
  height: 240,
  matrix: 'bt709',
  range: 'limited',
  depth: 8,
  transfer: 'sdr',
};
const layout = pictureLayout(format);

/** A picture whose samples follow `luma` at pixel centers. Chroma varies along both axes. */
function picture(luma: (x: number, y: number) => number, of: PictureFormat = format): Uint8Array {
  const { bytes, uOffset, vOffset, chromaWidth } = pictureLayout(of);
  const data = new Uint8Array(bytes);
  for (let i = 0; i < uOffset; i++)
    data[i] = Math.round(luma((i % of.width) + 0.5, Math.floor(i / of.width) + 0.5));
  for (let i = uOffset; i < vOffset; i++) data[i] = 118 + Math.round(((i - uOffset) % chromaWidth) / 8);
  for (let i = vOffset; i < bytes; i++)
    data[i] = 118 + Math.round(Math.floor((i - vOffset) / chromaWidth) / 6);
  return data;
}

/**
 * Maps a picture to the crop: the crop's pixels cover `step` pixels in each direction, rotated by `turn`, centered at x,
 * y.
 */
function place(x: number, y: number, step: number, turn = 0): Affine {
  const [cos, sin] = [Math.cos(turn) / step, Math.sin(turn) / step];
  return {
    a: cos,
    b: sin,
    c: SIDE / 2 - cos * x - sin * y,
    d: -sin,
    e: cos,
    f: SIDE / 2 + sin * x - cos * y,
  };
}

function crop(data: Uint8Array, transform: Affine, of: PictureFormat = format): Float32Array {
  const target = new Float32Array(3 * AREA + 5).fill(9);
  createAlignedCrop(of, SIDE)(data, transform, target, 5);
  expect(Array.from(target.subarray(0, 5))).toEqual([9, 9, 9, 9, 9]);
  return target.subarray(5);
}

/** Luma of the crop's colors, as a code. */
const codeOf = (cropped: Float32Array, i: number): number => {
  const [r = NaN, g = NaN, b = NaN] = [0, 1, 2].map((k) => ((cropped[i + k * AREA] ?? NaN) + 1) / 2);
  return 16 + 219 * (0.2126 * r + 0.7152 * g + 0.0722 * b);
};

const ramp = (x: number, y: number): number => 40 + x / 4 + y / 3;

test.each([
  ['of the same scale', 1, 0],
  ['enlarged', 0.4, 0.1],
  ['turned', 1, 0.5],
  ['turned a quarter', 1.2, Math.PI / 2],
  ['shrunk', 2.9, -0.3],
])('a smooth picture keeps its brightness at every position, %s', (_, step, turn) => {
  const [x, y] = [161.3, 118.8];
  const cropped = crop(picture(ramp), place(x, y, step, turn));
  for (const [column, row] of [
    [32, 32],
    [10, 10],
    [50, 12],
    [20, 55],
  ] as const) {
    const [u, v] = [(column + 0.5 - 32) * step, (row + 0.5 - 32) * step];
    const expected = ramp(
      x + u * Math.cos(turn) - v * Math.sin(turn),
      y + u * Math.sin(turn) + v * Math.cos(turn),
    );
    expect(Math.abs(codeOf(cropped, row * SIDE + column) - expected)).toBeLessThan(1);
  }
});

test('a crop at scale 1 is the picture itself', () => {
  const data = picture((x, y) => 60 + ((x * 7 + y * 13) % 90));
  const cropped = crop(data, place(132, 92, 1));
  let worst = 0;
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++) {
      const code = data[(92 - 32 + row) * format.width + 132 - 32 + column] ?? NaN;
      worst = Math.max(worst, Math.abs(codeOf(cropped, row * SIDE + column) - code));
    }
  }
  expect(worst).toBeLessThan(0.6);
});

test('a large face is averaged, not subsampled: a fine checkerboard becomes gray', () => {
  const data = picture((x, y) => ((Math.floor(x) + Math.floor(y)) % 2 === 0 ? 200 : 60));
  const cropped = crop(data, place(160, 120, 3.4, 0.2));
  for (let i = 0; i < AREA; i++) expect(Math.abs(codeOf(cropped, i) - 130)).toBeLessThan(16);
});

test('mid gray surrounds the picture, in any color format', () => {
  for (const [matrix, range] of [
    ['bt601', 'full'],
    ['bt709', 'limited'],
  ] as const) {
    const of: PictureFormat = { ...format, width: 61, height: 47, matrix, range };
    const cropped = crop(
      picture(() => 200, of),
      place(0, 0, 1),
      of,
    );
    for (const k of [0, 1, 2]) {
      expect(cropped[k * AREA + 5 * SIDE + 5]).toBeCloseTo((127 / 255) * 2 - 1, 5);
      expect(cropped[k * AREA + 60 * SIDE + 5]).toBeCloseTo((127 / 255) * 2 - 1, 5);
    }
    expect(cropped[60 * SIDE + 60]).toBeGreaterThan(0.4);
  }
});

test('the edge of the picture is extended along its border, so that no gray is pasted back with it', () => {
  const of: PictureFormat = { ...format, width: 61, height: 47 };
  const cropped = crop(
    picture(() => 200, of),
    place(0, 0, 1.5),
    of,
  );
  // The picture begins at row and column 32 of the crop.
  expect(codeOf(cropped, 40 * SIDE + 31)).toBeCloseTo(200, 0);
  expect(codeOf(cropped, 40 * SIDE + 25)).toBeCloseTo(200, 0);
  expect(cropped[40 * SIDE + 20]).toBeCloseTo((127 / 255) * 2 - 1, 5);
});

test('colors are converted by the picture’s matrix and range', () => {
  const data = new Uint8Array(layout.bytes).fill(63, 0, layout.uOffset);
  data.fill(102, layout.uOffset, layout.vOffset).fill(240, layout.vOffset);
  const cropped = crop(data, place(100, 100, 1));
  expect(cropped[0]).toBeCloseTo(1, 1);
  expect(cropped[AREA]).toBeCloseTo(-1, 1);
  expect(cropped[2 * AREA]).toBeCloseTo(-1, 1);
});
