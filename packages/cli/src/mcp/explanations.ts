import { ApiError } from '@lipsync/client';
import { failureOf, MEDIA_ADVICE } from '../failures/failures';
import { ERROR_CATALOGUE } from '../generated/error-catalogue';

/** What an agent is told about an error. The names are those of its JSON. */
export interface Explanation {
  code: string;
  /** The service's words for what happened; absent where only a code is explained. */
  message?: string;
  /** The catalogue's sentence; absent for codes that are not in the catalogue of this version. */
  meaning?: string;
  what_to_do: string;
  /** Whether the same call can succeed later. */
  retryable: boolean;
  retry_after_seconds?: number;
  /** The HTTP status of the answer that carries it; null for codes that only failed resources carry. */
  http_status?: number | null;
  /** `request`, `asset`, `record` (a render or preparation), `engine`. */
  found_in?: readonly string[];
  request_id?: string;
}

interface CatalogueEntry {
  readonly http_status: number | null;
  readonly retryable: boolean;
  readonly retry_after_seconds?: number;
  readonly where: readonly string[];
  readonly message: string;
}

const UNKNOWN_ID =
  'Check the spelling of the id, and that it was made with the same key at the same service.';

/** What these tools can do about it, where the catalogue's sentence is written for callers of the API. */
const ADVICE: Partial<Record<keyof typeof ERROR_CATALOGUE, string>> = {
  invalid_api_key:
    'Tell the user that the key of this server is wrong or revoked, and to correct LIPSYNC_API_KEY in its configuration or run lipsync login.',
  invalid_media_url: 'Pass a public https URL, or the path of a file on this machine.',
  invalid_webhook_url:
    'Leave webhook_url out and call wait, unless a server on the internet must be notified.',
  render_not_found: UNKNOWN_ID,
  preparation_not_found: UNKNOWN_ID,
  asset_not_found: UNKNOWN_ID,
  webhook_event_not_found: UNKNOWN_ID,
  asset_type_mismatch: 'The video goes into "video" and the voice into "audio".',
  asset_expired: 'Pass the file or the URL again instead of the asset id.',
  asset_failed: 'Pass another file or URL; the message says what is wrong with this one.',
  preparation_mismatch: 'Pass the video_asset_id of the preparation as "video", or leave preparation_id out.',
  preparation_expired: 'Leave preparation_id out, or call prepare again.',
  preparation_not_ready: 'Call wait with the id of the preparation first.',
  preparation_failed: 'Call status with the id of the preparation: it says why.',
  render_expired: 'Its results are gone. Call render again.',
  idempotency_key_reused:
    'A file that is uploaded again is a different input: repeat with the asset ids of the first render, or use another key.',
  concurrency_limit_exceeded:
    'Wait for a render with wait, or end one with cancel; then call this tool again.',
  engine_unavailable: 'Call this tool again later, or ask for other engines.',
  ...MEDIA_ADVICE,
  all_engines_failed: 'See the error of each engine.',
};

/** @param code of the catalogue or not: a service can be newer than this program */
export function explainCode(code: string): Explanation {
  const entry = entryOf(code);
  if (entry === null)
    return {
      code,
      what_to_do:
        'This code is not in the catalogue of this version. Go by the message and "retryable" of the error itself.',
      retryable: false,
    };
  return {
    code,
    meaning: entry.message,
    what_to_do: adviceFor(code, entry, entry.retryable),
    retryable: entry.retryable,
    ...(entry.retry_after_seconds !== undefined && { retry_after_seconds: entry.retry_after_seconds }),
    http_status: entry.http_status,
    found_in: entry.where,
  };
}

/** An error that a resource or an engine carries. Its own `retryable` decides, whatever the catalogue says. */
export function explainError(error: { code: string; message: string; retryable: boolean }): Explanation {
  const { code, message, retryable } = error;
  const entry = entryOf(code);
  return {
    ...explainCode(code),
    message,
    retryable,
    ...(entry !== null && { what_to_do: adviceFor(code, entry, retryable) }),
  };
}

/** Whatever a tool threw. */
export function explainFailure(thrown: unknown): Explanation {
  if (thrown instanceof ApiError) {
    const { requestId } = thrown;
    return { ...explainError(thrown), ...(requestId !== undefined && { request_id: requestId }) };
  }
  const { code, message, retryable, advice } = failureOf(thrown);
  return { code, message, what_to_do: advice ?? again(retryable), retryable };
}

/** For people and for models that read no structured output. */
export function explanationLines({ code, message, meaning, ...rest }: Explanation): string[] {
  return [
    `${message ?? meaning ?? code} (${code})`,
    ...(message !== undefined && meaning !== undefined && meaning !== message ? [`Meaning: ${meaning}`] : []),
    `What to do: ${rest.what_to_do}`,
    `Retryable: ${rest.retryable ? 'yes' : 'no'}${rest.request_id === undefined ? '' : ` · Request: ${rest.request_id}`}`,
  ];
}

function entryOf(code: string): CatalogueEntry | null {
  return isKnown(code) ? ERROR_CATALOGUE[code] : null;
}

function isKnown(code: string): code is keyof typeof ERROR_CATALOGUE {
  return Object.hasOwn(ERROR_CATALOGUE, code);
}

function adviceFor(code: string, entry: CatalogueEntry, retryable: boolean): string {
  const advice = isKnown(code) ? ADVICE[code] : undefined;
  return advice ?? again(retryable, entry);
}

function again(retryable: boolean, entry?: CatalogueEntry): string {
  if (!retryable) return 'The same call would fail again: change what the message names.';
  // A failed record never starts again.
  if (entry?.where.includes('record') === true)
    return 'The inputs are fine: call render or prepare again with the same ones, with a new idempotency key or none.';
  const after = entry?.retry_after_seconds;
  return `Call this tool again ${after === undefined ? 'later' : `after ${after} s`}.`;
}
