import { machine } from '@lipsync/local-stack';
import { benchScaleOut } from './scale-out/bench-scale-out';

/** `npm run bench:scale-out`: prints one JSON object. */
async function main(): Promise<void> {
  const say = (line: string): void => console.error(line);
  console.log(JSON.stringify({ machine: machine(), scale_out: await benchScaleOut(say) }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:scale-out: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
