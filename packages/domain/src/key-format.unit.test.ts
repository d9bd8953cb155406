import { formatApiKey, hashApiKey, isApiKey, lastFourOf } from './key-format';

const random = new Uint8Array(32).map((_, i) => i);
const key = formatApiKey(random);

describe('an API key', () => {
  it('consists of svc_ and the 64 hexadecimal digits of 32 random bytes', () => {
    expect(key).toBe('svc_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f');
    expect(isApiKey(key)).toBe(true);
    expect(() => formatApiKey(random.subarray(1))).toThrow(RangeError);
  });

  it.each([
    '',
    'svc_',
    key.slice(0, -1),
    `${key}0`,
    key.replace('svc_', 'key_'),
    key.replace('1f', '1g'),
    ` ${key}`,
    `${key}\n`,
  ])('is not %j', (text) => {
    expect(isApiKey(text)).toBe(false);
  });

  it('is stored as the SHA-256 of the whole text, as OpenSSL computes it', () => {
    expect(hashApiKey(key)).toBe('0013a8d8a50b13e04c87874e230e2a0582cf38b09e2e781a4d0a16e57fbb7dd1');
    expect(lastFourOf(key)).toBe('1e1f');
  });
});
