import { machine } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { engineOptions } from './engine-options';
import { benchPreparation } from './measure-preparation';

/**
 * `npm run bench:preparation [-- PACKS_DIR]`: prints one JSON object. By default it measures the built-in packs; the
 * other options are those of `bench:engines`.
 */
async function main(): Promise<void> {
  const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
  const options = engineOptions(process.argv.slice(2));
  const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
  const engines = await benchPreparation(ffmpeg, options);
  console.log(JSON.stringify({ machine: machine(), preparation_720p: engines }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:preparation: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
