import { inParallel, sampleEvenly } from './evidence';

describe('inParallel', () => {
  it('maps all in order, up to the given number at a time', async () => {
    let now = 0;
    let most = 0;
    const doubled = await inParallel([1, 2, 3, 4, 5], 2, async (item) => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
      return item * 2;
    });
    expect(doubled).toEqual([2, 4, 6, 8, 10]);
    expect(most).toBe(2);
  });
});

describe('sampleEvenly', () => {
  it('takes all items when they are few, otherwise the requested number, evenly spread', () => {
    expect(sampleEvenly([1, 2, 3], 5)).toEqual([1, 2, 3]);
    expect(sampleEvenly([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 5)).toEqual([0, 2, 4, 6, 8]);
  });
});
