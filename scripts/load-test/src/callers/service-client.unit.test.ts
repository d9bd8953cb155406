import { createClockOffsetEstimate } from './service-client';

/** The Date header of a server whose clock reads `serverMs`: whole seconds. */
const dated = (serverMs: number): string => new Date(serverMs).toUTCString();

describe('createClockOffsetEstimate', () => {
  it('knows nothing before the first response, nor from one without a date', () => {
    const estimate = createClockOffsetEstimate();
    expect(estimate.current()).toBeNull();
    estimate.observe(undefined, 0, 10);
    expect(estimate.current()).toBeNull();
  });

  it('narrows the offset with every response, down to about the duration of one', () => {
    const offset = 4_321;
    const estimate = createClockOffsetEstimate();
    // Responses that take 10 ms, at many different fractions of a second.
    for (let sentAt = 1_000_000; sentAt < 1_040_000; sentAt += 37)
      estimate.observe(dated(sentAt + 5 + offset), sentAt, sentAt + 10);
    const found = estimate.current();
    expect(Math.abs((found?.ms ?? NaN) - offset)).toBeLessThanOrEqual(found?.uncertaintyMs ?? 0);
    expect(found?.uncertaintyMs).toBeLessThan(25);
  });
});
