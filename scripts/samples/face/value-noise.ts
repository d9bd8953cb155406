/** A repeatable pseudo-random value in 0..1 for a lattice point. */
function lattice(x: number, y: number, seed: number): number {
  let h = Math.imul(x, 374761393) ^ Math.imul(y, 668265263) ^ Math.imul(seed, 974711);
  h = Math.imul(h ^ (h >>> 13), 1274126177);
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296;
}

/** Smooth noise in 0..1 with features about one unit wide. */
export function valueNoise(x: number, y: number, seed: number): number {
  const left = Math.floor(x);
  const top = Math.floor(y);
  const fx = x - left;
  const fy = y - top;
  const wx = fx * fx * (3 - 2 * fx);
  const wy = fy * fy * (3 - 2 * fy);
  const upper = lattice(left, top, seed) * (1 - wx) + lattice(left + 1, top, seed) * wx;
  const lower = lattice(left, top + 1, seed) * (1 - wx) + lattice(left + 1, top + 1, seed) * wx;
  return upper * (1 - wy) + lower * wy;
}

/** Several octaves of noise, in 0..1. */
export function cloudNoise(x: number, y: number, seed: number, octaves: number): number {
  let sum = 0;
  let total = 0;
  for (let octave = 0; octave < octaves; octave++) {
    const weight = 0.5 ** octave;
    sum += weight * valueNoise(x * 2 ** octave, y * 2 ** octave, seed + octave);
    total += weight;
  }
  return sum / total;
}
