import { codesIn, combing, compareOutside, type Luma } from './pictures';

const WIDTH = 64;
const HEIGHT = 64;
const picture = (lumaAt: (x: number, y: number) => number): Luma => ({
  samples: Uint16Array.from({ length: WIDTH * HEIGHT }, (_, i) => lumaAt(i % WIDTH, Math.floor(i / WIDTH))),
  width: WIDTH,
});
/** A pattern as it is seen when it has moved so far. */
const moved = (pixels: number): Luma => picture((x) => 512 + 200 * Math.sin((x - pixels) / 4));
const WHOLE = { x1: 0, y1: 0, x2: WIDTH, y2: HEIGHT };
const woven = (a: Luma, b: Luma): Luma =>
  picture((x, y) => (y % 2 === 0 ? a : b).samples[y * WIDTH + x] ?? 0);

describe('combing', () => {
  it('is nothing in a picture of one moment, and most of one of two moments', () => {
    expect(combing([moved(0), moved(4)], WHOLE)).toBe(0);
    expect(combing([moved(0), woven(moved(0), moved(4))], WHOLE)).toBeGreaterThan(0.5);
  });

  it('is nothing where nothing moved between the two moments', () => {
    expect(combing([woven(moved(3), moved(3))], WHOLE)).toBe(0);
  });
});

describe('similarity outside an area', () => {
  const area = { x1: 16, y1: 16, x2: 48, y2: 48 };
  const changed = (inside: number, outside: number): Luma =>
    picture((x, y) => 512 + (x >= 16 && x < 48 && y >= 16 && y < 48 ? inside : outside));

  it('does not depend on what is in it', () => {
    expect(compareOutside([[changed(0, 0), changed(300, 0)]], area)).toEqual({ psnr_db: 99, ssim: 1 });
  });

  it('is PSNR by the peak of ten bits', () => {
    const { psnr_db } = compareOutside([[changed(0, 0), changed(0, 2)]], area);
    expect(psnr_db).toBeCloseTo(20 * Math.log10(1023 / 2), 6);
  });
});

it('codes are counted in their area alone, each once', () => {
  const ramp = picture((x) => 4 * (x >> 1));
  expect(codesIn(ramp, { x1: 0, y1: 0, x2: WIDTH, y2: 8 })).toBe(32);
  expect(codesIn(ramp, { x1: 0, y1: 0, x2: 16, y2: 8 })).toBe(8);
});
