import { machine } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { engineOptions } from './engine-options';
import { benchEngines } from './measure-engines';

/**
 * `npm run bench:engines [-- PACKS_DIR]`: prints one JSON object. By default it measures the built-in packs; with
 * `--full-size`, packs as large as the published ones but untrained (up to 9 GB at a time under TMPDIR). `--engine`
 * selects one engine, `--seconds` sets the length of the clip. Each result is also printed to stderr as soon as it is
 * known.
 */
async function main(): Promise<void> {
  const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
  const options = engineOptions(process.argv.slice(2));
  const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
  console.log(JSON.stringify({ machine: machine(), engines: await benchEngines(ffmpeg, options) }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:engines: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
