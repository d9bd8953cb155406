import { errorThrownBy } from '../../test/error-thrown-by';
import { resolveIdempotencyKey } from './operation';

const code = (run: () => unknown) => errorThrownBy(run).code;
/** How node:http decodes a header whose bytes are UTF-8. */
const onTheWire = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

describe('resolveIdempotencyKey', () => {
  it('takes the key from the header or the body, and accepts equal keys in both', () => {
    expect(resolveIdempotencyKey(['a'], undefined)).toBe('a');
    expect(resolveIdempotencyKey([], 'a')).toBe('a');
    expect(resolveIdempotencyKey(['a'], 'a')).toBe('a');
    expect(resolveIdempotencyKey(['a', 'a'], undefined)).toBe('a');
  });

  it('treats an empty key as none', () => {
    expect(resolveIdempotencyKey([], undefined)).toBeNull();
    expect(resolveIdempotencyKey([''], '')).toBeNull();
    expect(resolveIdempotencyKey([''], 'a')).toBe('a');
  });

  it('refuses a header and a body that differ', () => {
    expect(code(() => resolveIdempotencyKey(['a'], 'b'))).toBe('idempotency_key_mismatch');
    expect(code(() => resolveIdempotencyKey(['a'], 'A'))).toBe('idempotency_key_mismatch');
  });

  it('refuses headers with different keys', () => {
    expect(code(() => resolveIdempotencyKey(['a', 'b'], undefined))).toBe('invalid_idempotency_key');
  });

  it('counts 128 code points, not bytes', () => {
    expect(resolveIdempotencyKey([onTheWire('ж'.repeat(128))], undefined)).toBe('ж'.repeat(128));
    expect(resolveIdempotencyKey([], '😀'.repeat(128))).toBe('😀'.repeat(128));
    expect(code(() => resolveIdempotencyKey(['x'.repeat(129)], undefined))).toBe('invalid_idempotency_key');
  });

  it('recognizes the same key in header bytes and in a JSON body', () => {
    expect(resolveIdempotencyKey([onTheWire('заказ-1')], 'заказ-1')).toBe('заказ-1');
  });

  it.each([
    ['a byte order mark', '\ufeffa'],
    ['a no-break space', '\u00a0a\u00a0'],
  ])('keeps %s of a header, so that no two keys become one', (_, key) => {
    expect(resolveIdempotencyKey([onTheWire(key)], key)).toBe(key);
  });

  it.each([
    ['NUL', 'a\0b'],
    ['half a surrogate pair', '\ud800'],
    ['quotes and backslashes', '"a\\'],
  ])('takes %s verbatim: the contract limits only the length', (_, key) => {
    expect(resolveIdempotencyKey([], key)).toBe(key);
  });
});
