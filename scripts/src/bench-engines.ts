import path from 'node:path';
import { resolveBinaries } from '@lipsync/media';
import { benchEngines } from './bench/bench-engines';
import { machine } from './bench/machine';
import { PACKS_DIR } from './local-stack/layout';

/** `npm run bench:engines [-- PACKS_DIR]`: prints one JSON object. Without a folder the built-in packs are measured. */
async function main(): Promise<void> {
  const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
  const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
  const packsDir = path.resolve(process.argv[2] ?? PACKS_DIR);
  console.log(JSON.stringify({ machine: machine(), engines: await benchEngines(ffmpeg, packsDir) }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:engines: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
