import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { audioEncoderArguments, type Binaries, inspect, videoEncoderArguments } from '@lipsync/media';
import { type PreparedClip } from './prepared-clip';

const QUIETLY = ['-nostdin', '-v', 'error', '-y'];

/** Decodes the clip and encodes it with a render's own arguments, and does nothing else: the floor under any render. */
export async function transcode(binaries: Binaries, clip: PreparedClip, outFile: string): Promise<void> {
  await promisify(execFile)(binaries.ffmpeg, [
    ...[...QUIETLY, '-i', clip.videoFile],
    ...(await encoding(binaries, clip, outFile)),
  ]);
}

/**
 * The same in two processes with a pipe between them, and nothing else at either end: the floor under any render whose
 * pictures come to another process than ffmpeg's.
 */
export async function transcodeThroughPipe(
  binaries: Binaries,
  clip: PreparedClip,
  outFile: string,
): Promise<void> {
  const { width, height } = clip.shape;
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p'];
  const encoder = spawn(
    binaries.ffmpeg,
    [
      ...[...QUIETLY, ...raw, '-video_size', `${width}x${height}`, '-framerate', '25', '-i', 'pipe:0'],
      ...(await encoding(binaries, clip, outFile)),
    ],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  );
  const decoder = spawn(
    binaries.ffmpeg,
    [...QUIETLY, '-i', clip.videoFile, '-map', '0:v', '-r', '25', ...raw, 'pipe:1'],
    { stdio: ['ignore', encoder.stdin, 'inherit'] },
  );
  // Both have it now; while it is open here the encoder sees no end.
  encoder.stdin.destroy();
  const ends = await Promise.all([once(decoder, 'exit'), once(encoder, 'exit')]);
  if (ends.some(([code]) => code !== 0)) throw new Error(`${clip.videoFile} could not be transcoded`);
}

/** Arguments behind those of the pictures. */
async function encoding(binaries: Binaries, clip: PreparedClip, outFile: string): Promise<string[]> {
  const { audio: stream } = await inspect(binaries, clip.audioFile);
  if (stream === undefined) throw new Error(`${clip.audioFile} has no sound`);
  return [
    ...['-i', clip.audioFile, '-map', '0:v', '-map', '1:a', '-r', '25'],
    ...videoEncoderArguments(binaries.codecs.encoder, binaries.threads),
    ...audioEncoderArguments({ path: clip.audioFile, stream }),
    ...['-movflags', '+faststart', outFile],
  ];
}
