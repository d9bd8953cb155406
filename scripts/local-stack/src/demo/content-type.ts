import path from 'node:path';

const BY_EXTENSION: Record<'video' | 'audio', Record<string, string>> = {
  video: {
    '.mp4': 'video/mp4',
    '.m4v': 'video/mp4',
    '.mov': 'video/quicktime',
    '.webm': 'video/webm',
    '.mkv': 'video/x-matroska',
  },
  audio: {
    '.mp3': 'audio/mpeg',
    '.wav': 'audio/wav',
    '.m4a': 'audio/mp4',
    '.mp4': 'audio/mp4',
    '.aac': 'audio/aac',
    '.ogg': 'audio/ogg',
    '.flac': 'audio/flac',
    '.webm': 'audio/webm',
  },
};

/** The declared type for an upload; the service's probe determines what the bytes really are. */
export function contentTypeOf(file: string, mediaType: 'video' | 'audio'): string {
  const types = BY_EXTENSION[mediaType];
  const type = types[path.extname(file).toLowerCase()];
  if (type === undefined)
    throw new Error(`${file}: the ${mediaType} must be one of ${Object.keys(types).join(' ')}`);
  return type;
}
