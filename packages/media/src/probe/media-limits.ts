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

/**
 * The accepted video codecs in plain words, by ffprobe's name: those with a safe, fast decoder in every ffmpeg build that
 * we run on.
 */
export const VIDEO_CODECS: ReadonlyMap<string, string> = new Map([
  ['h264', 'H.264'],
  ['hevc', 'HEVC'],
  ['vp8', 'VP8'],
  ['vp9', 'VP9'],
  ['av1', 'AV1'],
  ['mpeg4', 'MPEG-4 Part 2'],
  ['mpeg2video', 'MPEG-2'],
  ['prores', 'ProRes'],
  ['dnxhd', 'DNxHD, DNxHR'],
  ['mjpeg', 'Motion JPEG'],
]);
/** The accepted audio codecs likewise, but for PCM. Broadcasts pack AAC in frames of their own (LATM). */
export const AUDIO_CODECS: ReadonlyMap<string, string> = new Map([
  ['aac', 'AAC'],
  ['aac_latm', 'AAC'],
  ['mp3', 'MP3'],
  ['mp2', 'MP2'],
  ['ac3', 'AC-3'],
  ['eac3', 'E-AC-3'],
  ['flac', 'FLAC'],
  ['vorbis', 'Vorbis'],
  ['opus', 'Opus'],
  ['alac', 'ALAC'],
  ['wmav1', 'WMA'],
  ['wmav2', 'WMA'],
  ['wmapro', 'WMA Pro'],
]);
/** PCM has many names, including those of telephony (G.711) and of camcorders. */
const PCM = /^pcm_([suf](8|16|24|32|64)(le|be)?|mulaw|alaw|bluray)$/;

/** True for the accepted audio codecs, by ffprobe's name. */
export function isAudioCodec(name: string): boolean {
  return AUDIO_CODECS.has(name) || PCM.test(name);
}
