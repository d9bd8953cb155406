import { createClockOffsetEstimate } from './service-client';

/** The Date header of a server whose clock reads `serverMs`: whole seconds. */
const dated = (serverMs: number): string => new Date(serverMs).toUTCString();

it('narrows the offset of the clocks with every response, down to about the duration of one', () => {
  const offset = 4_321;
  const estimate = createClockOffsetEstimate();
  estimate.observe(undefined, 0, 10);
  expect(estimate.current()).toBe(0);
  // Responses that take 10 ms, at many different fractions of a second.
  for (let sentAt = 1_000_000; sentAt < 1_040_000; sentAt += 37)
    estimate.observe(dated(sentAt + 5 + offset), sentAt, sentAt + 10);
  expect(Math.abs(estimate.current() - offset)).toBeLessThan(25);
});
