import { requestId } from './request-id';

const UUID = /^[0-9a-f-]{36}$/;

describe('requestId', () => {
  it('keeps an id of the caller that is safe in headers and logs', () => {
    expect(requestId('trace-1.a_B')).toBe('trace-1.a_B');
    expect(requestId('x'.repeat(128))).toBe('x'.repeat(128));
  });

  it.each([
    ['', 'empty'],
    ['a b', 'a space'],
    ['a"b', 'a quote'],
    ['x'.repeat(129), 'too long'],
    ['é', 'not ASCII'],
  ])('replaces %j (%s) by one of its own', (header) => {
    expect(requestId(header)).toMatch(UUID);
  });

  it('gives every request without an id another one', () => {
    expect(requestId(undefined)).not.toBe(requestId(undefined));
  });
});
