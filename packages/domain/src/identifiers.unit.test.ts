import fc from 'fast-check';
import {
  fingerprint,
  formatApiKey,
  hashApiKey,
  ID_PREFIXES,
  isApiKey,
  isId,
  lastFourOf,
  newId,
} from './identifiers';

const zeros = new Uint8Array(10);
const ones = new Uint8Array(10).fill(255);

describe('ids', () => {
  it('are the prefix and a lowercase ULID of the time and the random bytes', () => {
    expect(newId('ren', 0, zeros)).toBe(`ren_${'0'.repeat(26)}`);
    expect(newId('ren', 2 ** 48 - 1, ones)).toBe(`ren_7${'z'.repeat(25)}`);
    // A pair published with the reference implementation.
    expect(newId('ast', 1_469_918_176_385, zeros)).toBe(`ast_01aryz6s41${'0'.repeat(16)}`);
  });

  it('of one kind sort by creation time', () => {
    const time = fc.nat(2 ** 31 - 1).map((n) => n * 1000);
    fc.assert(
      fc.property(
        time,
        fc.integer({ min: 1, max: 1e9 }),
        fc.uint8Array({ minLength: 10, maxLength: 10 }),
        (at, later, random) => {
          expect(newId('job', at, random) < newId('job', at + later, zeros)).toBe(true);
        },
      ),
    );
  });

  it('differ when their random bytes differ, in any bit', () => {
    for (let bit = 0; bit < 80; bit += 1) {
      const random = new Uint8Array(10);
      random[bit >> 3] = 1 << (bit & 7);
      expect(newId('ren', 1, random)).not.toBe(newId('ren', 1, zeros));
    }
  });

  it.each(Object.values(ID_PREFIXES))('of %s are recognized, and only as such', (prefix) => {
    const id = newId(prefix, 1_700_000_000_000, ones);
    expect(id).toHaveLength(30);
    expect(Object.values(ID_PREFIXES).filter((other) => isId(other, id))).toEqual([prefix]);
  });

  it.each([
    '',
    'ren',
    'ren_',
    `ren_${'0'.repeat(25)}`,
    `ren_${'0'.repeat(27)}`,
    `ren_8${'0'.repeat(25)}`,
    `ren_${'u'.repeat(26)}`,
    `ren_${'0'.repeat(25)}A`,
    `REN_${'0'.repeat(26)}`,
    `ren_${'0'.repeat(26)}\n`,
    "ren_' or 1=1 --aaaaaaaaaaaaaa",
  ])('are not recognized when malformed: %j', (text) => {
    expect(isId('ren', text)).toBe(false);
  });
});

const random = new Uint8Array(32).map((_, i) => i);
const key = formatApiKey(random);

describe('an API key', () => {
  it('consists of svc_ and the 64 hexadecimal digits of 32 random bytes', () => {
    expect(key).toBe('svc_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f');
    expect(isApiKey(key)).toBe(true);
    expect(isApiKey(`svc_${key.slice(4).toUpperCase()}`)).toBe(true);
    expect(() => formatApiKey(random.subarray(1))).toThrow(RangeError);
  });

  it.each([
    '',
    'svc_',
    key.slice(0, -1),
    `${key}0`,
    key.replace('svc_', 'key_'),
    key.replace('svc_', 'SVC_'),
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

const body = {
  video: { url: 'https://a.example.com/x' },
  engines: ['musetalk', 'highsync'],
  sync_mode: 'loop',
};
const of = (value: object) => fingerprint('create_render', value);

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, entry]) => [key, reversed(entry)]),
  );
}

describe('the fingerprint of a create request', () => {
  it('does not depend on the order of properties, at any depth', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        expect(of(reversed(value) as object)).toBe(of(value));
      }),
    );
  });

  it('does not depend on where the idempotency key came from', () => {
    expect(of({ ...body, idempotency_key: 'k' })).toBe(of(body));
  });

  it("includes an idempotency_key that is nested, not the request's own", () => {
    expect(of({ ...body, video: { ...body.video, idempotency_key: 'k' } })).not.toBe(of(body));
  });

  it('differs by operation, by value and by the order of arrays', () => {
    expect(fingerprint('create_preparation', body)).not.toBe(of(body));
    expect(of({ ...body, sync_mode: 'remap' })).not.toBe(of(body));
    expect(of({ ...body, engines: [...body.engines].reverse() })).not.toBe(of(body));
    expect(of({ ...body, preparation_id: '' })).not.toBe(of(body));
  });

  it('stays the same across releases, because stored fingerprints are compared with it', () => {
    expect(of(body)).toBe('c2a5c97f644e092dd9a00c094c7471091de77f64b83429074ff472c0a42f652e');
  });
});
