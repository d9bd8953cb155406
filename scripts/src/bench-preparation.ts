import path from 'node:path';
import { resolveBinaries } from '@lipsync/media';
import { benchPreparation } from './bench/bench-preparation';
import { machine } from './bench/machine';
import { PACKS_DIR } from './local-stack/layout';

/** `npm run bench:preparation [-- PACKS_DIR]`: prints one JSON object. Without a folder the built-in packs are measured. */
async function main(): Promise<void> {
  const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
  const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
  const engines = await benchPreparation(ffmpeg, path.resolve(process.argv[2] ?? PACKS_DIR));
  console.log(JSON.stringify({ machine: machine(), preparation_720p: engines }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:preparation: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
