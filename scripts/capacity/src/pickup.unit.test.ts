import { pickupSeconds } from './pickup';

const render = (available: number, claimed: number, ended: number) => ({
  ...{ customer: 'one', engine: 'musetalk', output_seconds: 4, analysed_seconds: 0, ingests: [] },
  at_seconds: available,
  wait_seconds: claimed - available,
  service_seconds: ended - claimed,
  end_to_end_seconds: ended - available,
});

describe('pickupSeconds', () => {
  it('is the time between an idle slot and a startable job, whichever came last', () => {
    // Alone: 0.2 s after it became available. Behind others: 0.2 s after the previous one had ended.
    const renders = [render(0, 0.2, 10), render(5, 10.2, 20), render(6, 20.2, 30), render(100, 100.2, 110)];
    expect(pickupSeconds(renders)).toBeCloseTo(0.2, 9);
    expect(pickupSeconds([...renders].reverse())).toBeCloseTo(0.2, 9);
  });

  it('does not become negative because of slightly different clocks', () => {
    expect(pickupSeconds([render(0, 0, 10), render(1, 9.99, 20)])).toBe(0);
  });
});
