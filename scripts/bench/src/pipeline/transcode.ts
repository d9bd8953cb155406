import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { audioEncoderArguments, type Binaries, inspect, videoEncoderArguments } from '@lipsync/media';
import { type PreparedClip } from './prepared-clip';

const QUIETLY = ['-nostdin', '-v', 'error', '-y'];

/** Decodes the clip and encodes it with a render's own arguments, and nothing else: the lower bound for any render. */
export async function transcode(binaries: Binaries, clip: PreparedClip, outFile: string): Promise<void> {
  await promisify(execFile)(binaries.ffmpeg, [
    ...[...QUIETLY, '-i', clip.videoFile],
    ...(await encoding(binaries, clip, outFile)),
  ]);
}

/**
 * The same in two processes connected by a pipe: the lower bound for any render whose pictures pass through another
 * process than ffmpeg.
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
  // Both processes have inherited the pipe; while it is also open here, the encoder never sees its end.
  encoder.stdin.destroy();
  const ends = await Promise.all([once(decoder, 'exit'), once(encoder, 'exit')]);
  if (ends.some(([code]) => code !== 0)) throw new Error(`${clip.videoFile} could not be transcoded`);
}

/** The output arguments that follow those of the pictures. */
async function encoding(binaries: Binaries, clip: PreparedClip, outFile: string): Promise<string[]> {
  const { audio: stream } = await inspect(binaries, clip.audioFile);
  if (stream === undefined) throw new Error(`${clip.audioFile} has no sound`);
  return [
    ...['-i', clip.audioFile, '-map', '0:v', '-map', '1:a', '-r', '25'],
    ...videoEncoderArguments(binaries.codecs.encoder, binaries.share.encoderThreads),
    ...audioEncoderArguments({ path: clip.audioFile, stream }),
    ...['-movflags', '+faststart', outFile],
  ];
}
