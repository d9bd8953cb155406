import { MEDIA_TYPES, type MediaType } from '@lipsync/contract';

/** Reads a stored media type. @throws Error when it is none */
export function parseMediaType(text: string): MediaType {
  const mediaType = MEDIA_TYPES.find((known) => known === text);
  if (!mediaType) throw new Error(`${text} is not a media type`);
  return mediaType;
}
