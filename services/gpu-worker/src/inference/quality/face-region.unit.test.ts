import { type PictureFormat, pictureLayout } from '@lipsync/kernels';
import { createFaceChange, createRegionReader } from './face-region';

const SIZE = 12;
const NO_MOUTH = { x1: 0, y1: 0, x2: 0, y2: 0 };
const region = (valueAt: (x: number, y: number) => number) => ({
  width: SIZE,
  height: SIZE,
  data: Float32Array.from({ length: SIZE * SIZE }, (_, i) => valueAt(i % SIZE, Math.floor(i / SIZE))),
});
const gray = region(() => 100);
const inside = (x: number, y: number): boolean => x >= 3 && x < 9 && y >= 3 && y < 9;

test('a face with a hard border has a seam as high as its luma step', () => {
  const change = createFaceChange();
  change.add(
    gray,
    region((x, y) => (inside(x, y) ? 140 : 100)),
    NO_MOUTH,
  );
  expect(change.result().seamLevels).toBe(40);
});

test('a feathered border has a low seam whatever happens inside', () => {
  const change = createFaceChange();
  const depth = (x: number, y: number): number => Math.min(x - 2, 9 - x, y - 2, 9 - y);
  change.add(
    gray,
    region((x, y) => (inside(x, y) ? 100 + 10 * depth(x, y) ** 2 : 100)),
    NO_MOUTH,
  );
  expect(change.result().seamLevels).toBe(10);
});

test('changes in the mouth do not count against the skin', () => {
  const change = createFaceChange();
  change.add(
    gray,
    region((x, y) => (x === 5 && y === 5 ? 255 : inside(x, y) ? 101 : 100)),
    { x1: 5, y1: 5, x2: 6, y2: 6 },
  );
  expect(change.result().skinPsnrDb).toBeCloseTo(20 * Math.log10(255), 6);
});

test('unchanged pictures have no measurements', () => {
  const change = createFaceChange();
  change.add(gray, gray, NO_MOUTH);
  expect(change.result()).toEqual({ seamLevels: null, skinPsnrDb: null });
});

const format: PictureFormat = {
  width: 1000,
  height: 800,
  matrix: 'bt709',
  range: 'limited',
  depth: 8,
  transfer: 'sdr',
};
const picture = (): Uint8Array => {
  const frame = new Uint8Array(pictureLayout(format).bytes).fill(128);
  frame.fill(16, 0, format.width * format.height);
  return frame;
};

test('a region shows what the picture shows there', () => {
  const frame = picture();
  frame[20 * format.width + 30] = 235;
  const region = createRegionReader(format).rgb(frame, { x1: 28, y1: 19, x2: 34, y2: 23 });
  expect(region).toMatchObject({ left: 28, top: 19, step: 1, picture: { width: 6, height: 4 } });
  const at = ((20 - 19) * 6 + (30 - 28)) * 3;
  expect([...(region?.picture.data.subarray(at - 3, at + 6) ?? [])]).toEqual([
    0, 0, 0, 255, 255, 255, 0, 0, 0,
  ]);
});

test('a large region is subsampled and still spans its box', () => {
  const region = createRegionReader(format).rgb(picture(), { x1: 0, y1: 0, x2: 1000, y2: 800 });
  expect(region).toMatchObject({ step: 5, picture: { width: 200, height: 160 } });
});

test('a box outside the picture has no region', () => {
  expect(createRegionReader(format).rgb(picture(), { x1: -20, y1: 10, x2: -5, y2: 40 })).toBeNull();
});

describe('a picture of ten bits', () => {
  const deep: PictureFormat = { ...format, depth: 10, transfer: 'pq', matrix: 'bt2020' };
  const { bytes, uOffset } = pictureLayout(deep);
  /** A gray picture with this code. */
  const grayOf = (code: number): Uint8Array =>
    new Uint8Array(new Uint16Array(bytes / 2).fill(512).fill(code, 0, uOffset / 2).buffer);

  test('is measured in 8-bit levels', () => {
    const region = createRegionReader(deep).luma(grayOf(413), { x1: 3, y1: 5, x2: 5, y2: 6 });
    expect([...region.data]).toEqual([103.25, 103.25]);
  });

  test('shows landmarks a face as bright as in SDR', () => {
    const box = { x1: 0, y1: 0, x2: 2, y2: 2 };
    // A light skin of 65 cd/m², and diffuse white.
    const [skin = NaN] = createRegionReader(deep).rgb(grayOf(473), box)?.picture.data ?? [];
    const [white = NaN] = createRegionReader(deep).rgb(grayOf(572), box)?.picture.data ?? [];
    expect(skin / 255).toBeCloseTo((65 / 203) ** (1 / 2.4), 1);
    expect(white / 255).toBeCloseTo(0.91, 2);
  });
});
