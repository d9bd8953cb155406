import { machine, PACKS_DIR } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { benchPipeline } from './pipeline/bench-pipeline';

const RUNS = 5;

/** `npm run bench:pipeline [-- RUNS]`: prints one JSON object. */
async function main(): Promise<void> {
  const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
  const binaries = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
  const runs = Number(process.argv[2] ?? RUNS);
  console.log(
    JSON.stringify({ machine: machine(), ...(await benchPipeline(binaries, PACKS_DIR, runs)) }, null, 2),
  );
}

main().catch((error: unknown) => {
  console.error(`bench:pipeline: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
