import { admissionCapacity, ingestCap } from './admission-limits';

describe('admission limits', () => {
  it('allow one and a half jobs per live slot, rounded up, and none without slots', () => {
    expect([0, 1, 2, 3, 4, 16, 100].map(admissionCapacity)).toEqual([0, 2, 3, 5, 6, 24, 150]);
  });

  it('let the two files of a render be ingested side by side, and leave a slot free where there are three or more', () => {
    const capOf = (liveSlots: number) => ingestCap(admissionCapacity(liveSlots));
    expect([1, 2, 3, 4, 16, 100].map(capOf)).toEqual([2, 2, 2, 3, 12, 75]);
    for (let slots = 3; slots <= 1000; slots += 1) expect(capOf(slots)).toBeLessThan(slots);
  });
});
