import { createSecretBox, SecretBoxError } from './secret-box';

const box = createSecretBox('0f'.repeat(32));

describe('secret box', () => {
  it('returns what was sealed, and seals the same secret differently every time', () => {
    const first = box.seal('secret ü', 'cus_a');
    expect(box.open(first, 'cus_a')).toBe('secret ü');
    expect(box.seal('secret ü', 'cus_a')).not.toEqual(first);
    expect(Buffer.from(first).includes('secret')).toBe(false);
  });

  it('does not open for another owner, under another key, or after any change', () => {
    const sealed = box.seal('secret', 'cus_a');
    expect(() => box.open(sealed, 'cus_b')).toThrow(SecretBoxError);
    expect(() => createSecretBox('0e'.repeat(32)).open(sealed, 'cus_a')).toThrow(SecretBoxError);
    for (let index = 0; index < sealed.length; index++) {
      const changed = sealed.map((byte, at) => (at === index ? byte ^ 1 : byte));
      expect(() => box.open(changed, 'cus_a')).toThrow(SecretBoxError);
    }
    expect(() => box.open(sealed.subarray(0, 20), 'cus_a')).toThrow(SecretBoxError);
  });

  it('refuses a master key of the wrong size', () => {
    expect(() => createSecretBox('0f'.repeat(16))).toThrow(SecretBoxError);
  });

  describe('with a previous key', () => {
    const [oldKey, newKey] = ['0f'.repeat(32), '1e'.repeat(32)];
    const old = createSecretBox(oldKey);
    const both = createSecretBox(newKey, oldKey);

    it('opens what either key sealed, and seals with the present one', () => {
      expect(both.open(old.seal('secret', 'cus_a'), 'cus_a')).toBe('secret');
      const sealed = both.seal('secret', 'cus_a');
      expect(createSecretBox(newKey).open(sealed, 'cus_a')).toBe('secret');
      expect(() => old.open(sealed, 'cus_a')).toThrow(SecretBoxError);
    });

    it('reseals what the previous key sealed, and nothing else', () => {
      const resealed = both.reseal(old.seal('secret', 'cus_a'), 'cus_a');
      expect(resealed && createSecretBox(newKey).open(resealed, 'cus_a')).toBe('secret');
      expect(both.reseal(both.seal('secret', 'cus_a'), 'cus_a')).toBeNull();
    });

    it('does not open what a third key or another owner sealed', () => {
      const foreign = createSecretBox('2d'.repeat(32)).seal('secret', 'cus_a');
      expect(() => both.reseal(foreign, 'cus_a')).toThrow(SecretBoxError);
      expect(() => both.open(old.seal('secret', 'cus_b'), 'cus_a')).toThrow(SecretBoxError);
      expect(() => createSecretBox(newKey, 'hunter2')).toThrow('64 hex digits');
    });
  });
});
