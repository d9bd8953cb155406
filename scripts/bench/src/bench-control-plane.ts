import { machine } from '@lipsync/local-stack';
import { benchControlPlane } from './measure-control-plane';

/** `npm run bench:control-plane`: prints one JSON object. */
async function main(): Promise<void> {
  console.log(JSON.stringify({ machine: machine(), ...(await benchControlPlane()) }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:control-plane: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
