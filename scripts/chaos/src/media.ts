import { randomBytes } from 'node:crypto';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { ffmpeg } from '@lipsync/testkit';

const FPS = 25;
/** Seconds of the clips, each as a video and as a voice. */
export const CLIPS = { short: 1.2, long: 2 } as const;
export type Clip = keyof typeof CLIPS;
export const SYNC_MODES = ['cut_off', 'bounce', 'loop', 'remap', 'silence'] as const;
type SyncMode = (typeof SYNC_MODES)[number];

/** Cuts the samples into clips that two cores can render many of. */
export async function makeClips(): Promise<Record<Clip, { video: Buffer; audio: Buffer }>> {
  const cut = async (seconds: number) => {
    const [video, audio] = await Promise.all([
      ffmpeg([
        ...['-i', SAMPLE_VIDEO, '-t', String(seconds), '-an', '-vf', 'scale=256:256', '-c:v', 'libx264'],
        ...['-pix_fmt', 'yuv420p', '-f', 'mp4', '-movflags', 'frag_keyframe+empty_moov', '-'],
      ]),
      ffmpeg(['-i', SAMPLE_AUDIO, '-t', String(seconds), '-f', 'wav', '-']),
    ]);
    return { video, audio };
  };
  return { short: await cut(CLIPS.short), long: await cut(CLIPS.long) };
}

/** The same video with other bytes (a box that players skip), so that nothing known about it can be reused. */
export function withNewBytes(video: Buffer): Buffer {
  const content = randomBytes(16);
  const head = Buffer.from([0, 0, 0, 8 + content.length, ...Buffer.from('free')]);
  return Buffer.concat([video, head, content]);
}

/** Length of a render's output in frames, as documented for its sync mode. */
export function expectedFrames(video: Clip, audio: Clip, mode: SyncMode): number {
  const [videoSeconds, audioSeconds] = [CLIPS[video], CLIPS[audio]];
  if (mode === 'cut_off') return Math.round(Math.min(videoSeconds, audioSeconds) * FPS);
  if (mode === 'silence') return Math.round(Math.max(videoSeconds, audioSeconds) * FPS);
  return Math.round(audioSeconds * FPS);
}
