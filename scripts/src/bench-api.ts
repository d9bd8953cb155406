import { benchApi } from './bench/bench-api';
import { machine } from './bench/machine';

/** `npm run bench:api`: prints one JSON object. */
async function main(): Promise<void> {
  console.log(JSON.stringify({ machine: machine(), api: await benchApi() }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:api: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
