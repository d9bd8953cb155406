import { createPictureDifference } from './outside-face';

const size = { width: 4, height: 2 };

describe('createPictureDifference', () => {
  it('ignores what is inside the box', () => {
    const difference = createPictureDifference(size);
    const changed = new Uint8Array(8);
    changed[5] = 200;
    difference.add(new Uint8Array(8), changed, { x1: 1, y1: 1, x2: 2, y2: 2 });
    expect(difference.result()).toEqual({ psnrDb: Infinity, largestDifference: 0 });
  });

  it('is 20·log10(255/d) for a constant difference d', () => {
    const difference = createPictureDifference(size);
    difference.add(new Uint8Array(8), new Uint8Array(8).fill(5), null);
    expect(difference.result().psnrDb).toBeCloseTo(20 * Math.log10(255 / 5), 9);
  });
});
