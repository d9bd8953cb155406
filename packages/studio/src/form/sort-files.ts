import { type MediaType } from '@lipsync/client';
import { contentTypeOf, fileProblem, kindProblem, type MediaFile } from './media-limits';

/** Files by the field that takes them, and why others are in none: a sentence beside the field. */
export interface SortedFiles<Kind extends MediaFile> {
  readonly files: Readonly<Partial<Record<MediaType, Kind>>>;
  readonly refused: Readonly<Partial<Record<MediaType, string>>>;
}

/**
 * Sorts what was dropped at once. A single file goes where it was dropped if it can: the sound of a film may be a voice.
 * Where it was dropped is null beside both fields.
 */
export function sortFiles<Kind extends MediaFile>(
  dropped: readonly Kind[],
  onto: MediaType | null,
): SortedFiles<Kind> {
  const files: Partial<Record<MediaType, Kind>> = {};
  const refused: Partial<Record<MediaType, string>> = {};
  const wanted = dropped.length === 1 ? onto : null;
  for (const file of dropped) {
    const kind = kindOf(file, wanted);
    const place = kind ?? onto ?? 'video';
    const problem = kind === null ? kindProblem(wanted, file.name) : fileProblem(kind, file);
    if (problem !== null) refused[place] = problem;
    else if (!(place in files)) files[place] = file;
    else refused[place] = `There is room for one ${NAMES[place]}: ${file.name} was left out.`;
  }
  return { files, refused };
}

const NAMES: Readonly<Record<MediaType, string>> = { video: 'video', audio: 'voice' };

/** Null if it is neither by its type nor by its name. */
function kindOf(file: MediaFile, wanted: MediaType | null): MediaType | null {
  const isSound = file.type.startsWith('audio/');
  const takes = (mediaType: MediaType): boolean =>
    contentTypeOf(mediaType, file) !== null && !(mediaType === 'video' && isSound);
  if (wanted !== null && takes(wanted)) return wanted;
  return (['video', 'audio'] as const).find(takes) ?? null;
}
