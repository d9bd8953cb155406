import path from 'node:path';
import { parseArgs } from 'node:util';
import { resolveBinaries } from '@lipsync/media';
import { benchEngines } from './bench/bench-engines';
import { PUBLISHED } from './bench/full-size/networks';
import { machine } from './bench/machine';
import { PACKS_DIR } from './local-stack/layout';

/**
 * `npm run bench:engines [-- PACKS_DIR]`: prints one JSON object. Without a folder the built-in packs are measured, with
 * `--full-size` packs of musetalk and latentsync as large as the published ones that have learned nothing (5 GB under
 * TMPDIR). `--engine` measures one engine, `--seconds` is the length of the clip.
 */
async function main(): Promise<void> {
  const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
  const { values, positionals } = parseArgs({
    options: {
      'full-size': { type: 'boolean' },
      engine: { type: 'string' },
      seconds: { type: 'string', default: '6' },
    },
    allowPositionals: true,
  });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error('--seconds must be a positive number');
  const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
  const engines = await benchEngines(ffmpeg, {
    packsDir: path.resolve(positionals[0] ?? PACKS_DIR),
    seconds,
    ...(values.engine !== undefined && { engine: values.engine }),
    ...(values['full-size'] === true && { untrained: PUBLISHED }),
  });
  console.log(JSON.stringify({ machine: machine(), engines }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench:engines: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
