import { benchKernels } from './bench/kernels/bench-kernels';
import { machine } from './bench/machine';

/** `npm run bench:kernels`: prints one JSON object. */
async function main(): Promise<void> {
  console.log(JSON.stringify({ machine: machine(), kernels: await benchKernels() }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:kernels: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
