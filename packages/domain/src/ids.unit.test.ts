import fc from 'fast-check';
import { ID_PREFIXES, isId, newId } from './ids';

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

  it.each(Object.values(ID_PREFIXES))('of %s are recognised, and only as such', (prefix) => {
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
  ])('are not recognised when malformed: %j', (text) => {
    expect(isId('ren', text)).toBe(false);
  });

  it('cannot be made from fewer random bytes or from an invalid time', () => {
    expect(() => newId('ren', 0, new Uint8Array(9))).toThrow(RangeError);
    for (const time of [-1, 0.5, NaN, 2 ** 48]) expect(() => newId('ren', time, zeros)).toThrow(RangeError);
  });
});
