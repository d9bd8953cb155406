import { requestId, requestPath } from './request';

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

describe('requestPath', () => {
  it.each([
    ['/v1/renders', '/v1/renders'],
    ['/v1/renders?token=secret', '/v1/renders'],
    ['/v1/renders#x', '/v1/renders'],
    ['/v1/renders?', '/v1/renders'],
    ['http://api.example.com/v1/renders?x=1', '/v1/renders'],
    ['http://api.example.com', ''],
    ['//v1/renders', '//v1/renders'],
    ['/v1/../healthz', '/v1/../healthz'],
    ['*', '*'],
  ])('reads %s as %s', (target, path) => {
    expect(requestPath(target)).toBe(path);
  });
});
