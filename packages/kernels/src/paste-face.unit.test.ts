import { createCropFace } from './crop-face';
import { MASK_SIZE } from './mask';
import { createPasteFace } from './paste-face';
import { type PictureFormat, pictureLayout } from './picture';

const SIZE = 64;
const AREA = 3 * SIZE * SIZE;
const format: PictureFormat = {
  width: 120,
  height: 90,
  matrix: 'bt709',
  range: 'limited',
  depth: 8,
  transfer: 'sdr',
};
const layout = pictureLayout(format);

/** A smooth picture with all planes in use. */
function picture(of: PictureFormat = format): Uint8Array {
  const { bytes, uOffset } = pictureLayout(of);
  return Uint8Array.from({ length: bytes }, (_, i) =>
    i < uOffset ? 60 + 80 * Math.sin(i / 97) ** 2 + (i % 13) : 118 + 8 * Math.sin(i / 31),
  );
}

const everywhere = new Float32Array(MASK_SIZE * MASK_SIZE).fill(1);

/** 1 in the middle half of the box, 0 elsewhere. */
const middle = Float32Array.from({ length: MASK_SIZE * MASK_SIZE }, (_, i) => {
  const inside = (k: number) => k >= MASK_SIZE / 4 && k < (MASK_SIZE * 3) / 4;
  return inside(i % MASK_SIZE) && inside(Math.floor(i / MASK_SIZE)) ? 1 : 0;
});

test('pixels outside the mask keep their exact values, even for fractional boxes', () => {
  const before = picture();
  const after = before.slice();
  const box = { x1: 20.3, y1: 10.7, x2: 84.9, y2: 74.1 };
  createPasteFace(format, SIZE)(after, box, new Float32Array(AREA).fill(1), 0, middle);
  let changed = 0;
  let strays = 0;
  for (let y = 0; y < format.height; y++) {
    for (let x = 0; x < format.width; x++) {
      const u = (x + 0.5 - box.x1) / (box.x2 - box.x1);
      const v = (y + 0.5 - box.y1) / (box.y2 - box.y1);
      const far = u < 0.23 || u > 0.77 || v < 0.23 || v > 0.77;
      const i = y * format.width + x;
      if (after[i] !== before[i]) changed++;
      if (far && after[i] !== before[i]) strays++;
    }
  }
  expect(strays).toBe(0);
  expect(changed).toBeGreaterThan(900);
});

test('a full mask shows the face, in the color codes of the picture’s matrix and range', () => {
  const after = picture();
  const red = new Float32Array(2 + AREA).fill(-1).fill(1, 2, 2 + SIZE * SIZE);
  createPasteFace(format, SIZE)(after, { x1: 20, y1: 10, x2: 100, y2: 80 }, red, 2, everywhere);
  expect(after[45 * format.width + 60]).toBe(63);
  expect(after[layout.uOffset + 22 * layout.chromaWidth + 30]).toBe(102);
  expect(after[layout.vOffset + 22 * layout.chromaWidth + 30]).toBe(240);
});

test('a box of odd edges is painted to its last pixel and no further, and of chroma the share that is in it', () => {
  const before = picture();
  const after = before.slice();
  const red = new Float32Array(AREA).fill(-1).fill(1, 0, SIZE * SIZE);
  createPasteFace(format, SIZE)(after, { x1: 11, y1: 21, x2: 41, y2: 71 }, red, 0, everywhere);
  const at = (x: number, y: number): number => y * format.width + x;
  const luma = (x: number, y: number): boolean => after[at(x, y)] === 63;
  expect([10, 11, 40, 41].map((x) => luma(x, 50))).toEqual([false, true, true, false]);
  expect([20, 21, 70, 71].map((y) => luma(30, y))).toEqual([false, true, true, false]);
  for (const [x, y] of [
    [10, 50],
    [41, 50],
    [30, 20],
    [30, 71],
  ] as const)
    expect(after[at(x, y)]).toBe(before[at(x, y)]);
  /** How far the chroma sample over these pixels has come from its old value to the face's. */
  const share = (x: number, y: number): number => {
    const sample = layout.vOffset + (y >> 1) * layout.chromaWidth + (x >> 1);
    const old = before[sample] ?? NaN;
    return ((after[sample] ?? NaN) - old) / (240 - old);
  };
  expect(share(30, 50)).toBe(1);
  expect(share(10, 50)).toBeCloseTo(0.5, 2);
  expect(share(41, 71)).toBeCloseTo(0.25, 2);
});

test('cropping a face and pasting it back unchanged gives the same picture within two gray levels', () => {
  const smooth = Uint8Array.from({ length: layout.bytes }, (_, i) =>
    i < layout.uOffset ? 80 + (i % format.width) / 2 + Math.floor(i / format.width) / 3 : 120,
  );
  const box = { x1: 21.5, y1: 12.25, x2: 77.5, y2: 70.25 };
  const face = new Float32Array(AREA);
  createCropFace(format, SIZE)(smooth, box, face, 0);
  const after = smooth.slice();
  createPasteFace(format, SIZE)(after, box, face, 0, everywhere);
  let worst = 0;
  for (let i = 0; i < layout.bytes; i++)
    worst = Math.max(worst, Math.abs((after[i] ?? 0) - (smooth[i] ?? 0)));
  expect(worst).toBeLessThanOrEqual(2);
});

test('half a mask blends half way', () => {
  const after = picture().fill(100, 0, layout.uOffset);
  const white = new Float32Array(AREA).fill(1);
  const half = new Float32Array(MASK_SIZE * MASK_SIZE).fill(0.5);
  createPasteFace(format, SIZE)(after, { x1: 20, y1: 10, x2: 100, y2: 80 }, white, 0, half);
  expect(after[45 * format.width + 60]).toBe(168);
});
