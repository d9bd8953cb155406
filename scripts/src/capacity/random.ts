/** A reproducible source of randomness: the same seed gives the same run on every machine. */
export interface Random {
  /** In [0, 1). */
  readonly uniform: () => number;
  readonly exponential: (mean: number) => number;
  /** Gamma distributed, with this mean and coefficient of variation; a cv of 0 is the mean itself. */
  readonly gamma: (mean: number, cv: number) => number;
  /** An index, drawn with these weights. */
  readonly pick: (weights: readonly number[]) => number;
}

/** xoshiro128** (Blackman and Vigna 2018), seeded by splitmix32. */
export function createRandom(seed: number): Random {
  const state = new Uint32Array(4);
  let mixed = seed >>> 0;
  for (let i = 0; i < 4; i++) {
    mixed = (mixed + 0x9e3779b9) >>> 0;
    let z = mixed;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    state[i] = (z ^ (z >>> 15)) >>> 0;
  }

  const uniform = (): number => next(state) / 0x1_0000_0000;
  const exponential = (mean: number): number => -mean * Math.log(1 - uniform());
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());

  /** Marsaglia and Tsang 2000, for shapes below 1 with their own boost. */
  const standardGamma = (shape: number): number => {
    if (shape < 1) return standardGamma(shape + 1) * Math.pow(1 - uniform(), 1 / shape);
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = normal();
      const v = Math.pow(1 + c * x, 3);
      if (v > 0 && Math.log(1 - uniform()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
    }
  };

  return {
    uniform,
    exponential,
    gamma: (mean, cv) => {
      if (cv <= 0 || mean <= 0) return mean;
      const shape = 1 / (cv * cv);
      return (mean / shape) * standardGamma(shape);
    },
    pick: (weights) => {
      let left = uniform() * weights.reduce((sum, weight) => sum + weight, 0);
      for (const [index, weight] of weights.entries()) {
        left -= weight;
        if (left < 0) return index;
      }
      return weights.length - 1;
    },
  };
}

function next(state: Uint32Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = state;
  const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
  state[2] = c ^ a;
  state[3] = d ^ b;
  state[1] = b ^ (c ^ a);
  state[0] = a ^ (d ^ b);
  state[2] = c ^ a ^ (b << 9);
  state[3] = rotate(d ^ b, 11);
  return result;
}

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
