import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';

const run = promisify(execFile);

export interface Clip {
  videoFile: string;
  audioFile: string;
  seconds: number;
}

export interface ClipShape {
  width: number;
  height: number;
  seconds: number;
  /** Frames per second. The face moves faster the more there are, so that no two are the same. */
  fps: number;
  /** Strength of the grain that every camera adds; a drawn face alone would be unrealistically fast to encode. */
  grain: number;
}

const QUIET = ['-nostdin', '-v', 'error', '-y'];
const LOOPED = [...QUIET, '-stream_loop', '-1'];

/** The sample face in the middle of a gray picture, and the sample voice, repeated to the requested length. */
export async function makeClip(ffmpeg: string, folder: string, shape: ClipShape): Promise<Clip> {
  const { width, height, seconds, grain, fps } = shape;
  const videoFile = path.join(folder, `face-${height}p${fps}-${grain}-${seconds}s.mp4`);
  const fitted = `scale=${width}:${height}:force_original_aspect_ratio=decrease`;
  const scale = `${fitted},pad=${width}:${height}:-1:-1:color=0x707070`;
  const noise = grain === 0 ? [] : [`noise=alls=${grain}:allf=t`];
  await run(ffmpeg, [
    ...[...LOOPED, '-r', String(fps), '-i', SAMPLE_VIDEO, '-t', String(seconds), '-an'],
    ...['-vf', [scale, ...noise, 'format=yuv420p'].join(',')],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', videoFile],
  ]);
  return { videoFile, audioFile: await makeSpeech(ffmpeg, folder, seconds), seconds };
}

/** The sample voice, repeated to the requested length. */
export async function makeSpeech(ffmpeg: string, folder: string, seconds: number): Promise<string> {
  const audioFile = path.join(folder, `speech-${seconds}s.wav`);
  await run(ffmpeg, [...LOOPED, '-i', SAMPLE_AUDIO, '-t', String(seconds), '-vn', audioFile]);
  return audioFile;
}
