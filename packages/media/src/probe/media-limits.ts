import { MEDIA_MAX_SECONDS } from '@lipsync/domain';
import { MAX_PIXELS } from '../ffmpeg/input-arguments';

/** Limits of an accepted input. Seconds are decoded seconds; pixels are shown pixels. */
export const MEDIA_LIMITS = {
  /**
   * Includes tolerance: a cut to 300 s without re-encoding keeps a few pictures more, and raw sound keeps its padding.
   */
  maxSeconds: MEDIA_MAX_SECONDS + 0.5,
  maxPixels: MAX_PIXELS,
  maxSide: 4096,
  minSide: 16,
  /** The longest video at 60 frames per second; shorter ones may be faster. */
  maxPictures: (MEDIA_MAX_SECONDS + 1) * 60,
} as const;

/** Video codecs by ffprobe's name: those with a safe, fast decoder in every ffmpeg build that we run on. */
export const VIDEO_CODECS: ReadonlySet<string> = new Set([
  'h264',
  'hevc',
  'vp8',
  'vp9',
  'av1',
  'mpeg4',
  'prores',
]);
const AUDIO_CODECS: ReadonlySet<string> = new Set(['aac', 'mp3', 'flac', 'vorbis', 'opus', 'alac']);

/** True for the accepted audio codecs; PCM has many names, including those of telephony (G.711). */
export function isAudioCodec(name: string): boolean {
  return AUDIO_CODECS.has(name) || /^pcm_([suf](8|16|24|32|64)(le|be)?|mulaw|alaw)$/.test(name);
}
