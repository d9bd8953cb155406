import { createRandom as createUniform } from '@lipsync/local-stack';

/** Reproducible random numbers: the same seed gives the same run on every machine. */
export interface Random {
  /** In [0, 1). */
  readonly uniform: () => number;
  readonly exponential: (mean: number) => number;
  /** Gamma distributed, with this mean and coefficient of variation; with a cv of 0 always the mean. */
  readonly gamma: (mean: number, cv: number) => number;
}

/** The distributions of arrivals and service times, based on the load generator's uniform numbers. */
export function createRandom(seed: number): Random {
  const uniform = createUniform(seed, 'capacity');
  const exponential = (mean: number): number => -mean * Math.log(1 - uniform());
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());

  /** Marsaglia and Tsang 2000, with their boost for shapes below 1. */
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
  };
}
