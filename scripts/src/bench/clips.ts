import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '../local-stack/layout';

const run = promisify(execFile);

export interface Clip {
  videoFile: string;
  audioFile: string;
  seconds: number;
}

/** The sample face at 720p and the sample voice, repeated to the wanted length. */
export async function makeClip(ffmpeg: string, folder: string, seconds: number): Promise<Clip> {
  const videoFile = path.join(folder, `face-720p-${seconds}s.mp4`);
  const audioFile = path.join(folder, `speech-${seconds}s.wav`);
  const quiet = ['-nostdin', '-v', 'error', '-y', '-stream_loop', '-1'];
  const scale = 'scale=1280:720:force_original_aspect_ratio=decrease,pad=1280:720:-1:-1,format=yuv420p';
  await run(ffmpeg, [
    ...[...quiet, '-i', SAMPLE_VIDEO, '-t', String(seconds), '-vf', scale, '-an'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', videoFile],
  ]);
  await run(ffmpeg, [...quiet, '-i', SAMPLE_AUDIO, '-t', String(seconds), '-vn', audioFile]);
  return { videoFile, audioFile, seconds };
}

/** Wall seconds of decoding and encoding the clip with a render's settings: the floor under any render. */
export async function transcodeSeconds(ffmpeg: string, clip: Clip, outFile: string): Promise<number> {
  const startedAt = performance.now();
  await run(ffmpeg, [
    ...[
      '-nostdin',
      '-v',
      'error',
      '-y',
      '-i',
      clip.videoFile,
      '-i',
      clip.audioFile,
      '-map',
      '0:v',
      '-map',
      '1:a',
      '-r',
      '25',
    ],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '17', '-c:a', 'aac', '-b:a', '192k', outFile],
  ]);
  return (performance.now() - startedAt) / 1000;
}
