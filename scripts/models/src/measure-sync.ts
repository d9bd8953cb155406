import path from 'node:path';
import { SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { PACKS_DIR } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { Command, Option } from 'commander';
import { measureSync } from './measure/measure-sync';

interface Options {
  video: string;
  audio: string;
  source?: string;
  syncMode: SyncMode;
}

/** `npm run measure:sync`: prints one JSON object. */
const program = new Command('measure:sync')
  .description('Does the mouth follow the voice, is the rest of the picture unharmed, is the duration right?')
  .requiredOption('--video <file>', 'the rendered video')
  .requiredOption('--audio <file>', 'the voice that it should speak')
  .option('--source <file>', 'the video that it was made from')
  .addOption(new Option('--sync-mode <mode>', 'as rendered').choices(SYNC_MODES).default('cut_off'))
  .action(async ({ video, audio, source, syncMode }: Options) => {
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    const measurement = await measureSync(await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH }), {
      videoFile: path.resolve(video),
      audioFile: path.resolve(audio),
      ...(source === undefined ? {} : { source: { videoFile: path.resolve(source), syncMode } }),
      packsDir: PACKS_DIR,
    });
    console.log(JSON.stringify(measurement, null, 2));
  });

program.parseAsync().catch((error: unknown) => {
  console.error(`measure:sync: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
