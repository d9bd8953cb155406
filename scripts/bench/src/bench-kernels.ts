import { machine } from '@lipsync/local-stack';
import { benchAlignedKernels } from './kernels/bench-aligned-kernels';
import { benchKernels } from './kernels/bench-kernels';

/** `npm run bench:kernels`: prints one JSON object. */
async function main(): Promise<void> {
  const kernels = await benchKernels();
  const alignedKernels = await benchAlignedKernels();
  console.log(JSON.stringify({ machine: machine(), kernels, aligned_kernels: alignedKernels }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:kernels: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
