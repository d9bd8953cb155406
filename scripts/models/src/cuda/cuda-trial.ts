import { createRequire } from 'node:module';
import type * as Runtime from 'onnxruntime-node';

/** Run as a process of its own: `cuda-trial.js RUNTIME MODEL`. Fails unless the graph y = 2x runs right on CUDA. */
async function main(): Promise<void> {
  const [, , runtime = '', model = ''] = process.argv;
  // By its path: the runtime that is tried need not be the one that this package would load.
  const { InferenceSession, Tensor } = createRequire(__filename)(runtime) as typeof Runtime;
  const session = await InferenceSession.create(model, { executionProviders: ['cuda'] });
  const x = Float32Array.from({ length: 16 }, (_, i) => i);
  const { y } = await session.run({ x: new Tensor('float32', x, [1, 4, 2, 2]) });
  const isRight = y?.data.length === x.length && x.every((value, i) => y.data[i] === 2 * value);
  if (!isRight) throw new Error(`the card computes something else: ${String(y?.data)}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
