import { resolveBinaries } from '@lipsync/media';
import { benchApi } from './bench/bench-api';
import { benchRender } from './bench/bench-render';
import { machine } from './bench/machine';

/** `npm run bench`: prints one JSON object. Seconds are of this machine; the ratios are what travels. */
async function main(): Promise<void> {
  const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
  const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
  const render = await benchRender(ffmpeg, [10, 120]);
  const api = await benchApi();
  console.log(JSON.stringify({ machine: machine(), render_720p: render, api }, null, 2));
}

main().catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
