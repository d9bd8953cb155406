import { rgbRegion } from './rgb-region';
import { type PictureFormat, pictureLayout } from '@lipsync/kernels';

const format: PictureFormat = { width: 1000, height: 800, matrix: 'bt709', range: 'limited' };
const picture = (): Uint8Array => {
  const frame = new Uint8Array(pictureLayout(format).bytes).fill(128);
  frame.fill(16, 0, format.width * format.height);
  return frame;
};

test('a region shows what the picture shows there', () => {
  const frame = picture();
  frame[20 * format.width + 30] = 235;
  const region = rgbRegion(frame, format, { x1: 28, y1: 19, x2: 34, y2: 23 });
  expect(region).toMatchObject({ left: 28, top: 19, step: 1, picture: { width: 6, height: 4 } });
  const at = ((20 - 19) * 6 + (30 - 28)) * 3;
  expect([...(region?.picture.data.subarray(at - 3, at + 6) ?? [])]).toEqual([
    0, 0, 0, 255, 255, 255, 0, 0, 0,
  ]);
});

test('a large region is subsampled and still spans its box', () => {
  const region = rgbRegion(picture(), format, { x1: 0, y1: 0, x2: 1000, y2: 800 });
  expect(region).toMatchObject({ step: 5, picture: { width: 200, height: 160 } });
});

test('a box outside the picture has no region', () => {
  expect(rgbRegion(picture(), format, { x1: -20, y1: 10, x2: -5, y2: 40 })).toBeNull();
});
