import { analysisSize } from './analyze-faces';

const SQUARE = { num: 1, den: 1 };

describe('analysisSize', () => {
  test('shrinks to 960 on the longer side, evenly, and never enlarges', () => {
    expect(analysisSize({ width: 1080, height: 1920 }, SQUARE)).toEqual({ width: 540, height: 960 });
    expect(analysisSize({ width: 640, height: 480 }, SQUARE)).toEqual({ width: 640, height: 480 });
    expect(analysisSize({ width: 641, height: 3 }, SQUARE)).toEqual({ width: 642, height: 4 });
  });

  test.each([
    ['an anamorphic film', { width: 640, height: 720 }, { num: 2, den: 1 }, { width: 960, height: 540 }],
    ['a broadcast', { width: 480, height: 576 }, { num: 32, den: 15 }, { width: 960, height: 540 }],
    ['NTSC', { width: 720, height: 480 }, { num: 8, den: 9 }, { width: 640, height: 480 }],
    ['the widest pixels', { width: 320, height: 720 }, { num: 4, den: 1 }, { width: 960, height: 540 }],
    ['the narrowest pixels', { width: 2560, height: 360 }, { num: 1, den: 4 }, { width: 640, height: 360 }],
    ['the widest strip', { width: 4096, height: 16 }, { num: 4, den: 1 }, { width: 960, height: 2 }],
    ['the narrowest strip', { width: 16, height: 4096 }, { num: 1, den: 4 }, { width: 2, height: 960 }],
  ])('gives the shape in which players show %s', (_, stored, pixelAspect, shown) => {
    expect(analysisSize(stored, pixelAspect)).toEqual(shown);
  });

  test.each([
    { num: 100, den: 1 },
    { num: 1, den: 255 },
    { num: 2 ** 31, den: 1 },
  ])('does not believe in pixels of $num:$den', (pixelAspect) => {
    expect(analysisSize({ width: 640, height: 360 }, pixelAspect)).toEqual({ width: 640, height: 360 });
  });
});
