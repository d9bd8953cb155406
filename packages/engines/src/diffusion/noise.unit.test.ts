import { fillNoise, philox, type Words } from './noise';

describe('noise', () => {
  const noise = (length: number, seed: number, stream?: number): Float32Array => {
    const target = new Float32Array(length);
    fillNoise(target, seed, stream);
    return target;
  };

  test('the same seed gives the same noise, on any machine', () => {
    const known = [-0.827532, 2.336634, 0.43177, 0.001389];
    noise(4, 1247).forEach((value, i) => expect(value).toBeCloseTo(known[i] ?? NaN, 6));
  });

  test('another seed or another stream gives different noise', () => {
    const values = [noise(8, 1), noise(8, 2), noise(8, 1, 1), noise(8, 1 + 2 ** 32), noise(8, 1, 2 ** 32)];
    expect(new Set(values.map(String)).size).toBe(values.length);
  });

  test('a shorter array is the beginning of a longer one', () => {
    expect(noise(5, 9)).toEqual(noise(64, 9).subarray(0, 5));
  });

  test('a part is the same as in the whole, and nothing is computed far from it', () => {
    const part = new Float32Array(64);
    fillNoise(part, 9, 0, { from: 21, to: 42 });
    expect(part.subarray(21, 42)).toEqual(noise(64, 9).subarray(21, 42));
    expect(
      [part.subarray(0, 18), part.subarray(45)].every((rest) => rest.every((value) => value === 0)),
    ).toBe(true);
  });

  test('the noise is normal: mean 0, variance 1, kurtosis 3, neighbors and streams independent', () => {
    const count = 100_000;
    const values = noise(count, 42);
    const other = noise(count, 42, 1);
    const mean = (of: (value: number, i: number) => number): number =>
      values.reduce((sum, value, i) => sum + of(value, i), 0) / count;
    expect(mean((x) => x)).toBeCloseTo(0, 1.7);
    expect(mean((x) => x * x)).toBeCloseTo(1, 1.7);
    expect(mean((x) => x ** 4)).toBeCloseTo(3, 1);
    expect(mean((x, i) => x * (values[i + 1] ?? 0))).toBeCloseTo(0, 1.7);
    expect(mean((x, i) => x * (other[i] ?? 0))).toBeCloseTo(0, 1.7);
  });
});

describe('philox', () => {
  test.each<[Words, [number, number], Words]>([
    [
      [0, 0, 0, 0],
      [0, 0],
      [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
    ],
    [
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    ],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ])("the generator gives its authors' known answers (%#)", (counter, key, answer) => {
    philox(counter, key);
    expect(counter).toEqual(answer);
  });
});
