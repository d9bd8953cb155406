import { open } from 'node:fs/promises';
import { type GraphBuilder, type Value } from '@lipsync/model-pack';

interface Weights {
  readonly elements: number;
  readonly fill: Fill;
}

/** A constant, or numbers distributed evenly over ± `spread`. */
export type Fill = number | { readonly spread: number };

const FLOAT_BYTES = 4;
const POOL_ELEMENTS = 1 << 20;

/** The weights of a network, stored in one file beside its graph and generated when that file is written. */
export class WeightFile {
  private readonly tensors: Weights[] = [];
  private total = 0;

  constructor(readonly name: string) {}

  /** The network's number of trainable parameters. */
  get count(): number {
    return this.total;
  }

  add(g: GraphBuilder, dims: readonly number[], fill: Fill): Value {
    const elements = dims.reduce((product, dim) => product * dim, 1);
    const offset = this.total * FLOAT_BYTES;
    this.tensors.push({ elements, fill });
    this.total += elements;
    return g.weights(dims, { file: this.name, offset });
  }

  /** Writes all weights; the same numbers on every call. */
  async write(path: string): Promise<void> {
    const pool = noise(POOL_ELEMENTS);
    const part = new Float32Array(POOL_ELEMENTS);
    const file = await open(path, 'w');
    let place = 0;
    try {
      for (const { elements, fill } of this.tensors) {
        for (let left = elements; left > 0;) {
          const count = Math.min(left, pool.length - place);
          const random = pool.subarray(place, place + count);
          if (typeof fill === 'number') part.fill(fill, 0, count);
          else part.set(random.map((value) => value * fill.spread));
          await file.writeFile(new Uint8Array(part.buffer, 0, count * FLOAT_BYTES));
          left -= count;
          place = (place + count) % pool.length;
        }
      }
    } finally {
      await file.close();
    }
  }
}

/** Evenly distributed over ±1 (Numerical Recipes' generator). */
function noise(length: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}
