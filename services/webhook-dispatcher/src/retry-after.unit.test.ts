import { parseRetryAfter } from './retry-after';

const NOW = Date.parse('2026-03-01T10:00:00Z');

describe('Retry-After', () => {
  it.each([
    ['120', 120],
    ['0', 0],
    ['Sun, 01 Mar 2026 10:02:00 GMT', 120],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 0],
  ])('reads %s', (header, seconds) => {
    expect(parseRetryAfter(header, NOW)).toBe(seconds);
  });

  it.each([null, '', '-5', '1.5', 'soon', '2026-03-01', '99999999999'])('ignores %p', (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined();
  });
});
