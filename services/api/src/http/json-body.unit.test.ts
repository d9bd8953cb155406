import { errorThrownBy } from '../../test/error-thrown-by';
import { parseJsonObject, requireJsonContentType } from './json-body';

describe('requireJsonContentType', () => {
  it.each([
    ['application/json', undefined],
    ['application/json; charset=utf-8', undefined],
    ['Application/JSON;charset="UTF-8"', undefined],
    ['application/json; version=1', undefined],
    ['application/json', 'Identity'],
  ])('accepts %s with encoding %s', (contentType, encoding) => {
    expect(() => requireJsonContentType(contentType, encoding)).not.toThrow();
  });

  it.each([
    [undefined, undefined, 'application/json'],
    ['text/plain', undefined, 'application/json'],
    ['application/jsonp', undefined, 'application/json'],
    ['application/json; charset=latin1', undefined, 'UTF-8'],
    ['application/x-www-form-urlencoded', undefined, 'application/json'],
    ['application/json', 'gzip', 'uncompressed'],
  ])('refuses %s with encoding %s, and says what would be accepted: %s', (contentType, encoding, advice) => {
    const error = errorThrownBy(() => requireJsonContentType(contentType, encoding));
    expect(error.code).toBe('invalid_content_type');
    expect(error.message).toContain(advice);
  });
});

describe('parseJsonObject', () => {
  it('returns the object, with a property named __proto__ as plain data', () => {
    expect(parseJsonObject(Buffer.from('{"a": [1]}'))).toEqual({ a: [1] });
    expect(Object.keys(parseJsonObject(Buffer.from('{"__proto__": {"x": 1}}')))).toEqual(['__proto__']);
  });

  it.each([
    ['nothing', ''],
    ['half an object', '{"a":'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"{}"'],
    ['two values', '{} {}'],
    ['a comment', '{} // x'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('refuses %s', (_, body) => {
    expect(errorThrownBy(() => parseJsonObject(Buffer.from(body))).code).toBe('invalid_json');
  });
});
