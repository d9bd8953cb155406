import { requestPath } from './request-path';

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
