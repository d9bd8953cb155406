import fc from 'fast-check';
import { fingerprint } from './idempotency';

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
