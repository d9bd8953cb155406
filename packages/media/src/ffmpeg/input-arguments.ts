import { basename } from 'node:path';

/**
 * The accepted containers in plain words, by the demuxers that may touch customer bytes: only plain containers, none that
 * can point at another file or host.
 */
export const CONTAINERS: ReadonlyMap<string, string> = new Map([
  ['mov', 'MP4, QuickTime'],
  ['matroska', 'Matroska'],
  ['webm', 'WebM'],
  ['mpegts', 'MPEG-TS'],
  ['wav', 'WAV'],
  ['aiff', 'AIFF'],
  ['mp3', 'MP3'],
  ['aac', 'AAC'],
  ['ac3', 'AC-3'],
  ['eac3', 'E-AC-3'],
  ['flac', 'FLAC'],
  ['ogg', 'Ogg'],
  ['asf', 'WMA'],
]);
/** 4096x2160, enforced inside the decoders before they allocate. */
export const MAX_PIXELS = 4096 * 2160;
/** A broadcast delivery has sixteen channels of sound, each its own stream, and a timecode. */
export const MAX_STREAMS = 32;

const HARDENED = [
  ['-protocol_whitelist', 'file'],
  ['-format_whitelist', [...CONTAINERS.keys()].join(',')],
  ['-max_pixels', String(MAX_PIXELS)],
  ['-max_streams', String(MAX_STREAMS)],
  ['-probesize', '10M'],
  ['-analyzeduration', '10M'],
].flat();

/** `file:` plus the bare name (the child's working directory is the file's folder): no scheme, no leading dash. */
function fileUrl(path: string): string {
  return `file:${basename(path)}`;
}

/** Global arguments and input of an ffprobe run. */
export function probeInput(path: string): string[] {
  // Data references are off by default; the option repeats this because a default is not a promise.
  return [
    '-v',
    'error',
    '-hide_banner',
    ...HARDENED,
    '-enable_drefs',
    '0',
    '-use_absolute_path',
    '0',
    fileUrl(path),
  ];
}

/** Global arguments of every ffmpeg run. */
export const FFMPEG_GLOBAL = ['-nostdin', '-hide_banner', '-v', 'error', '-y'] as const;

/** One customer file as an ffmpeg input; `options` are input options such as a seek. */
export function ffmpegInput(path: string, options: readonly string[] = []): string[] {
  return [...HARDENED, ...options, '-i', fileUrl(path)];
}
