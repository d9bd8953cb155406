import { createPatchSampler, patchPoint, type RgbPicture } from './patch-sampler';

const samplePatch = createPatchSampler();

/** Red rises along x, green along y, blue is constant. */
function gradient(width: number, height: number): RgbPicture {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) data.set([x, y, 77], (y * width + x) * 3);
  }
  return { width, height, data };
}

const blank = (width: number, height: number): RgbPicture => ({
  width,
  height,
  data: new Uint8Array(width * height * 3),
});

const pixel = ({ width, data }: RgbPicture, x: number, y: number): number[] =>
  Array.from(data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3));

describe('samplePatch', () => {
  test('a patch of the same size and position copies the pixels', () => {
    const picture = gradient(40, 30);
    const out = blank(8, 8);
    samplePatch(picture, { x: 14, y: 9, side: 8, angle: 0 }, out);
    expect(pixel(out, 0, 0)).toEqual([10, 5, 77]);
    expect(pixel(out, 7, 7)).toEqual([17, 12, 77]);
  });

  test('a wide output covers a height that matches its proportions', () => {
    const out = blank(20, 10);
    samplePatch(gradient(200, 200), { x: 100, y: 50, side: 40, angle: 0 }, out);
    expect(pixel(out, 0, 0)).toEqual([81, 41, 77]);
    expect(pixel(out, 19, 9)).toEqual([119, 59, 77]);
  });

  test("a quarter turn brings the picture's vertical axis onto the rows", () => {
    const out = blank(9, 9);
    samplePatch(gradient(60, 60), { x: 30.5, y: 20.5, side: 9, angle: Math.PI / 2 }, out);
    expect(pixel(out, 4, 4)).toEqual([30, 20, 77]);
    expect(pixel(out, 8, 4)).toEqual([30, 24, 77]);
    expect(pixel(out, 4, 8)).toEqual([26, 20, 77]);
  });
});

describe('patchPoint', () => {
  test('returns the picture point that the sampled pixel came from, even if rotated', () => {
    const patch = { x: 30, y: 20, side: 16, angle: Math.PI / 2 };
    const out = blank(16, 16);
    samplePatch(gradient(60, 60), patch, out);
    const { x, y } = patchPoint(patch, 12.5 / 16, 3.5 / 16);
    expect(pixel(out, 12, 3)).toEqual([Math.round(x - 0.5), Math.round(y - 0.5), 77]);
  });
});
