import { admissionCapacity, ingestCap } from './admission-limits';

describe('admission limits', () => {
  it('allow one and a half jobs per live slot, rounded up, and none without slots', () => {
    expect([0, 1, 2, 3, 4, 16, 100].map(admissionCapacity)).toEqual([0, 2, 3, 5, 6, 24, 150]);
  });

  it('leave one of several customers three quarters of the media slots, and never all of two or more', () => {
    expect([1, 2, 3, 4, 16, 100].map(ingestCap)).toEqual([1, 1, 2, 3, 12, 75]);
    for (let slots = 2; slots <= 1000; slots += 1) expect(ingestCap(slots)).toBeLessThan(slots);
  });
});
