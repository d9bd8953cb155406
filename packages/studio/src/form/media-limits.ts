import { CONTENT_TYPE_BY_EXTENSION, CONTENT_TYPES, type MediaType } from '@lipsync/client';

/** The service's limits, checked before an upload instead of after it. */
export const MAX_BYTES = 268_435_456;
export const MAX_SECONDS = 300;
const URL_MAX_LENGTH = 8192;

/** The limits of one file, in words. */
export const LIMITS = 'Up to 5 minutes and 256 MiB.';

/** The usual files of each kind, in words. */
const FORMATS: Readonly<Record<MediaType, string>> = {
  video: 'MP4, MOV, MKV, WebM, MTS or TS',
  audio: 'WAV, MP3, M4A, AAC, OGG, FLAC, AIFF, WMA, AC-3 or WebM',
};

export interface MediaFile {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** The content type to declare for a file, or null if the service takes none of its kind. */
export function contentTypeOf(mediaType: MediaType, { name, type }: MediaFile): string | null {
  const essence = (type.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (CONTENT_TYPES[mediaType].includes(essence)) return essence;
  // For files whose type the browser does not know, or names otherwise.
  return CONTENT_TYPE_BY_EXTENSION[mediaType][/\.([^.]+)$/.exec(name.toLowerCase())?.[1] ?? ''] ?? null;
}

/** What is wrong with a file, in a sentence that says what to do; null if nothing is. */
export function fileProblem(mediaType: MediaType, file: MediaFile): string | null {
  if (contentTypeOf(mediaType, file) === null) return kindProblem(mediaType, file.name);
  if (file.size === 0) return `${file.name} is empty. Choose another file.`;
  if (file.size > MAX_BYTES)
    return `${file.name} has ${formatBytes(file.size)}; the limit is 256 MiB. Export a smaller one.`;
  return null;
}

/** What to say of a file that is no medium; null stands for either. */
export function kindProblem(mediaType: MediaType | null, name: string): string {
  if (mediaType === null)
    return `${name} is neither video nor sound. Use a file such as MP4, MOV, WAV or MP3.`;
  return `${name} is not ${mediaType === 'video' ? 'a video' : 'sound'}. Use ${FORMATS[mediaType]}.`;
}

export function durationProblem(mediaType: MediaType, seconds: number): string | null {
  if (seconds <= MAX_SECONDS) return null;
  return `The ${mediaType === 'video' ? 'video' : 'voice'} lasts ${formatSeconds(seconds)}; the limit is 5 minutes. Cut it first.`;
}

export function urlProblem(text: string): string | null {
  const https = 'Use a URL that begins with https://, is public and leads to the file itself.';
  if (!URL.canParse(text)) return https;
  const url = new URL(text);
  if (url.protocol !== 'https:') return https;
  if (url.port !== '') return 'Use a URL without a port: only port 443 is allowed.';
  if (url.username !== '' || url.password !== '') return 'Remove the user name and password from the URL.';
  if (text.length > URL_MAX_LENGTH) return `Use a URL of at most ${URL_MAX_LENGTH} characters.`;
  return null;
}

/** 1,500,000 bytes as “1.5 MB”, in the units that file managers show. */
export function formatBytes(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

/** “8.6 s”, “2:05”. */
export function formatSeconds(seconds: number): string {
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
