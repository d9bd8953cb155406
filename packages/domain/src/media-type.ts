import { MEDIA_TYPES, type MediaType } from '@lipsync/contract';
import { storedWord } from './stored-word';

/**
 * Reads a stored media type.
 * @throws Error for an unknown one
 */
export function parseMediaType(text: string): MediaType {
  return storedWord(MEDIA_TYPES, text, 'a media type');
}
