import { createHash } from 'node:crypto';

/** Numbers in [0, 1). */
export type Random = () => number;

/**
 * A reproducible sequence: the same seed and name give the same numbers, different names give independent ones. The
 * generator is sfc32 (Chris Doty-Humphrey, PractRand), which passes PractRand and BigCrush.
 */
export function createRandom(seed: number, name: string): Random {
  const digest = createHash('sha256').update(`${seed}:${name}`).digest();
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let counter = digest.readInt32LE(12);
  return () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return (sum >>> 0) / 2 ** 32;
  };
}

/** Picks one of the items, each with equal probability. @throws RangeError when there are none */
export function pick<T>(items: readonly T[], random: Random): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError('there is nothing to pick from');
  return item;
}

/**
 * Picks one of the names, each with a probability proportional to its weight. @throws RangeError when no weight is
 * positive
 */
export function pickWeighted<Name extends string>(
  weights: Readonly<Partial<Record<Name, number>>>,
  random: Random,
): Name {
  const entries = Object.entries(weights) as [Name, number][];
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
  let rest = random() * total;
  for (const [name, weight] of entries) {
    rest -= weight;
    if (rest < 0) return name;
  }
  throw new RangeError('no weight is positive');
}
