import { requestId } from './request-id';

const UUID = /^[0-9a-f-]{36}$/;

describe('requestId', () => {
  it("keeps a caller's id that is safe in headers and logs", () => {
    expect(requestId('trace-1.a_B')).toBe('trace-1.a_B');
    expect(requestId('x'.repeat(128))).toBe('x'.repeat(128));
  });

  it.each([
    ['', 'empty'],
    ['a b', 'a space'],
    ['a"b', 'a quote'],
    ['x'.repeat(129), 'too long'],
    ['é', 'not ASCII'],
  ])('replaces %j (%s) with a new id', (header) => {
    expect(requestId(header)).toMatch(UUID);
  });

  it('gives each request without an id a different one', () => {
    expect(requestId(undefined)).not.toBe(requestId(undefined));
  });
});
