import { type MediaType } from '@lipsync/contract';
import { ServiceError } from './service-error';

/** The content types that an upload may declare. The bytes decide later what the file really is. */
export const CONTENT_TYPES: Readonly<Record<MediaType, readonly string[]>> = {
  video: ['video/mp4', 'video/quicktime', 'video/webm', 'video/x-matroska'],
  audio: [
    'audio/mpeg',
    'audio/wav',
    'audio/x-wav',
    'audio/wave',
    'audio/mp4',
    'audio/x-m4a',
    'audio/aac',
    'audio/ogg',
    'audio/flac',
    'audio/webm',
  ],
};

/**
 * The content type of an upload, without parameters and in lower case.
 * @throws ServiceError unsupported_content_type
 */
export function uploadContentType(mediaType: MediaType, declared: string): string {
  const essence = (declared.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (CONTENT_TYPES[mediaType].includes(essence)) return essence;
  const detail = `For ${mediaType}, content_type must be one of ${CONTENT_TYPES[mediaType].join(', ')}.`;
  throw new ServiceError('unsupported_content_type', { detail });
}
