import { aheadOf } from './service-clock';

const DATE = 'Fri, 27 Nov 2026 19:40:00 GMT';
const SENT = Date.parse(DATE);

describe('the clock of the service', () => {
  it('is found where the computer is minutes ahead or behind', () => {
    expect(aheadOf(DATE, SENT + 300_000, 0)).toBe(-300_000);
    expect(aheadOf(DATE, SENT - 300_000, 0)).toBe(300_000);
  });

  it('does not jump with the parts of a second that answers leave out, and the time they take', () => {
    expect(aheadOf(DATE, SENT + 1900, 0)).toBe(0);
    expect(aheadOf(DATE, SENT + 301_900, -300_000)).toBe(-300_000);
  });

  it('stays as it was where an answer names no time', () => {
    expect(aheadOf(null, SENT, -300_000)).toBe(-300_000);
    expect(aheadOf('soon', SENT, -300_000)).toBe(-300_000);
  });
});
