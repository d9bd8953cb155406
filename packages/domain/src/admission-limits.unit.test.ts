import { admissionCapacity, ingestCap } from './admission-limits';

describe('limits of admission', () => {
  it('let a job and a half be under way for every live slot, rounded up, and none without slots', () => {
    expect([0, 1, 2, 3, 4, 16, 100].map(admissionCapacity)).toEqual([0, 2, 3, 5, 6, 24, 150]);
  });

  it('let the two files of a render go side by side, and leave a slot free where there are three or more', () => {
    const capOf = (liveSlots: number) => ingestCap(admissionCapacity(liveSlots));
    expect([1, 2, 3, 4, 16, 100].map(capOf)).toEqual([2, 2, 2, 3, 12, 75]);
    for (let slots = 3; slots <= 1000; slots += 1) expect(capOf(slots)).toBeLessThan(slots);
  });
});
