import { MEDIA_MAX_SECONDS, WORKING_FPS } from '@lipsync/domain';
import { MAX_PIXELS } from './input-arguments';

/** What an input may be. Seconds are decoded seconds, pixels are shown pixels. */
export const MEDIA_LIMITS = {
  /** One working frame of tolerance: containers round. */
  maxSeconds: MEDIA_MAX_SECONDS + 1 / WORKING_FPS,
  maxPixels: MAX_PIXELS,
  maxSide: 4096,
  minSide: 16,
  /** The longest video at 60 frames per second; shorter ones may be faster. */
  maxPictures: (MEDIA_MAX_SECONDS + 1) * 60,
} as const;

/** Video codecs by ffprobe's name: those with a safe, fast decoder in every ffmpeg build we run on. */
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

/** True for the accepted audio codecs; uncompressed PCM comes under many names. */
export function isAudioCodec(name: string): boolean {
  return AUDIO_CODECS.has(name) || /^pcm_[suf](8|16|24|32|64)(le|be)?$/.test(name);
}
