import { MEDIA_TYPES, type MediaType } from '@lipsync/contract';
import { storedWord } from './stored-word';

/** Reads a stored media type. @throws Error when it is none */
export function parseMediaType(text: string): MediaType {
  return storedWord(MEDIA_TYPES, text, 'a media type');
}
