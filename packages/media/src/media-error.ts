const BRAND = Symbol.for('lipsync.media-error');

/** What can be wrong with a file, in the words of the public error catalogue. */
type MediaErrorCode =
  'media_unsupported' | 'media_corrupt' | 'media_too_long' | 'media_type_mismatch' | 'encode_failed';

/**
 * A verdict about the media itself: a retry gives the same answer. `message` is for logs only; `detail`, if there is
 * one, tells customers which limit the media exceeds and by how much.
 */
export class MediaError extends Error {
  readonly [BRAND] = true;

  constructor(
    readonly code: MediaErrorCode,
    message: string,
    readonly detail?: string,
  ) {
    super(message);
    this.name = 'MediaError';
  }
}

/** A MediaError whose detail may be logged and shown alike. */
export function beyondLimit(code: 'media_unsupported' | 'media_too_long', detail: string): MediaError {
  return new MediaError(code, detail, detail);
}

/** True for a MediaError, including one made by another copy of this package. */
export function isMediaError(error: unknown): error is MediaError {
  return error instanceof Error && BRAND in error;
}

/**
 * A tool gave no verdict: it could not start, could not go on because the machine ran out of something, ran past its
 * deadline, or was stopped or killed. Try again.
 */
export class MediaProcessError extends Error {
  constructor(
    readonly reason: 'not_started' | 'deadline' | 'stopped' | 'killed',
    message: string,
  ) {
    super(message);
    this.name = 'MediaProcessError';
  }
}
