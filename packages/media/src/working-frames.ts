import { dirname } from 'node:path';
import { type Binaries } from './binaries';
import { workingRateFilter } from './frame-filters';
import { FFMPEG_GLOBAL, ffmpegInput } from './input-arguments';
import { MediaError, MediaProcessError } from './media-error';
import { lastProgressFrame } from './progress-report';
import { runToEnd } from './run-to-end';

/**
 * Number of frames that a frame reader will yield for this file: decodes it once through the same time filter.
 * @throws MediaError media_corrupt, MediaProcessError.
 */
export async function framesAtWorkingRate(
  binaries: Binaries,
  file: string,
  options: { deadlineMs: number; signal?: AbortSignal | undefined },
): Promise<number> {
  const command: [string, ...string[]] = [
    binaries.ffmpeg,
    ...FFMPEG_GLOBAL,
    ...ffmpegInput(file),
    ...['-map', '0:V:0', '-vf', workingRateFilter(), '-fps_mode', 'passthrough'],
    ...['-progress', 'pipe:1', '-f', 'null', '-'],
  ];
  const { exit, stdout } = await runToEnd(
    binaries,
    command,
    { folder: dirname(file), ...options },
    4 * 1024 * 1024,
  );
  if (exit.ended !== 'exit') throw new MediaProcessError(exit.ended, exit.stderr);
  if (exit.code !== 0) throw new MediaError('media_corrupt', exit.stderr);
  return lastProgressFrame(stdout.toString('latin1'));
}
