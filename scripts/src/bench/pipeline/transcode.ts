import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { audioEncoderArguments, type Binaries, inspect, videoEncoderArguments } from '@lipsync/media';
import { type Clip } from '../../samples/sample-clip';

/** Decodes the clip and encodes it with a render's own arguments, and does nothing else: the floor under any render. */
export async function transcode(binaries: Binaries, clip: Clip, outFile: string): Promise<void> {
  const { audio: stream } = await inspect(binaries, clip.audioFile);
  if (stream === undefined) throw new Error(`${clip.audioFile} has no sound`);
  await promisify(execFile)(binaries.ffmpeg, [
    ...['-nostdin', '-v', 'error', '-y', '-i', clip.videoFile, '-i', clip.audioFile],
    ...['-map', '0:v', '-map', '1:a', '-r', '25'],
    ...videoEncoderArguments(binaries.codecs.encoder, binaries.threads),
    ...audioEncoderArguments({ path: clip.audioFile, stream }),
    ...['-movflags', '+faststart', outFile],
  ]);
}
