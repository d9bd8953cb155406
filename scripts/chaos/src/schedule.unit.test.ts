import { FAULT_NAMES, laneOf, LANES } from './faults';
import { planFaults } from './schedule';

describe('the plan of a fault test', () => {
  it('is the same for the same seed and length, and another for another seed', () => {
    expect(planFaults(7, 3)).toEqual(planFaults(7, 3));
    expect(planFaults(7, 3)).not.toEqual(planFaults(8, 3));
  });

  it('has every fault once before one comes again', () => {
    for (const lane of LANES) {
      const ours = FAULT_NAMES.filter((name) => laneOf(name) === lane);
      const planned = planFaults(3, 60).filter(({ name }) => ours.includes(name));
      expect(new Set(planned.slice(0, ours.length).map(({ name }) => name))).toEqual(new Set(ours));
    }
  });

  it('ends with the run', () => {
    expect(planFaults(1, 2).every(({ startMs }) => startMs < 120_000)).toBe(true);
  });
});
