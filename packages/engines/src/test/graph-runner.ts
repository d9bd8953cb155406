import { InferenceSession, Tensor } from 'onnxruntime-node';

type Floats = Float32Array<ArrayBuffer>;

/** A graph under test. */
export interface TestGraph {
  /** Runs the graph and returns its only output. */
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Floats>;
  release(): Promise<void>;
}

/** Loads the bytes of a model. */
export async function loadTestGraph(model: Uint8Array): Promise<TestGraph> {
  // One thread, because tests run in parallel, and a spinning pool would take the cores from all of them.
  const session = await InferenceSession.create(model, { intraOpNumThreads: 1 });
  return {
    run: async (feeds) => {
      const [output] = Object.values(await session.run(feeds));
      if (!(output?.data instanceof Float32Array)) throw new TypeError('one float32 output expected');
      // A copy, because the runtime may reuse its memory.
      return Float32Array.from(output.data);
    },
    release: () => session.release(),
  };
}

export const floats = (data: Float32Array, dims: readonly number[]): Tensor =>
  new Tensor('float32', data, dims);

export const time = (step: number): Tensor => new Tensor('int64', BigInt64Array.of(BigInt(step)), [1]);
