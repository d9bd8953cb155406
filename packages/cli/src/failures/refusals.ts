import type { ApiError, ApiErrorCode } from '@lipsync/client';

/** What a refusal means to the user of this command, and what can be done. */
interface Words {
  /** In place of the service's message, where that speaks of requests to those who write them. */
  message?: string;
  advice?: string;
}

/** A line of its own, which whoami leaves out: it has just shown it. */
export const SEE_CONNECTION = 'See lipsync whoami';
const UPLOAD_AGAIN = 'Run the command again, or upload the file again: lipsync upload FILE';
const LATER = 'Run the command again later.';
const WHOSE = 'Was it made with another key? See lipsync whoami and lipsync list';

/** Nothing that a user typed leads to these: the service and this command do not fit together. */
const MISFIT = {
  message: 'The service does not understand this command.',
  advice: 'A newer version may fit the service better: lipsync --version',
};

const WORDS: Partial<Record<ApiErrorCode, Words>> = {
  invalid_api_key: {
    message: 'The service does not accept this key.',
    advice: 'Log in again with lipsync login, or correct LIPSYNC_API_KEY.',
  },
  not_found: {
    message: 'There is nothing at this URL.',
    advice: `Check the URL of the service: it is that of the API, without /v1.\n${SEE_CONNECTION}`,
  },
  render_not_found: { message: 'There is no render with this id.', advice: WHOSE },
  preparation_not_found: { message: 'There is no preparation with this id.', advice: WHOSE },
  asset_not_found: { message: 'There is no asset with this id.', advice: WHOSE },
  webhook_event_not_found: { message: 'There is no webhook event with this id.', advice: WHOSE },
  render_expired: {
    message: 'The render has expired.',
    advice: "Render again: results are kept until the render's expires_at.",
  },
  preparation_expired: {
    message: 'The preparation has expired.',
    advice: 'Prepare the video again: lipsync prepare VIDEO',
  },
  asset_expired: { message: 'The asset has expired.', advice: 'Upload the file again.' },
  webhook_event_expired: {
    message: 'The webhook event has expired.',
    advice: 'See the render or preparation itself: lipsync status ID',
  },
  render_not_cancellable: { message: 'The render has ended, and cannot be cancelled.' },
  preparation_mismatch: { message: 'The preparation was made from another video.' },
  upload_not_found: { message: 'The service has lost the upload.', advice: UPLOAD_AGAIN },
  upload_expired: { message: 'The upload took too long.', advice: UPLOAD_AGAIN },
  upload_incomplete: { message: 'The file did not arrive.', advice: UPLOAD_AGAIN },
  upload_size_mismatch: { message: 'The file changed while it was uploaded.', advice: UPLOAD_AGAIN },
  unsupported_content_type: {
    message: 'The service does not accept this kind of file.',
    advice: 'Convert it, for instance to MP4 or WAV.',
  },
  asset_type_mismatch: {
    message: 'One of these assets is a video where a voice is expected, or the other way around.',
    advice: 'The video comes first and the voice second.',
  },
  asset_not_ready: { message: 'The file of this asset was never sent.', advice: 'Upload it again.' },
  preparation_not_ready: {
    message: 'The preparation has not finished.',
    advice: 'Wait for it: lipsync wait ID',
  },
  preparation_failed: {
    message: 'The preparation did not complete.',
    advice: 'See why: lipsync status ID. Prepare again: lipsync prepare VIDEO',
  },
  invalid_idempotency_key: { message: 'An --idempotency-key must have 1 to 128 characters.' },
  idempotency_key_reused: {
    message: 'The --idempotency-key was used for something else.',
    advice: 'A file that is uploaded again is a different input: repeat with the same asset ids or URLs.',
  },
  idempotency_in_progress: {
    message: 'The first command with this --idempotency-key is still being handled.',
    advice: 'Run the command again shortly.',
  },
  concurrency_limit_exceeded: {
    message: 'There are too many unfinished renders, preparations or uploads.',
    advice: 'Wait for one of your renders to finish, or cancel it: lipsync list, lipsync cancel ID',
  },
  rate_limit_exceeded: {
    message: 'This key was used too often within a short time.',
    advice: 'Run the command again in a few seconds.',
  },
  service_unavailable: { message: 'The service is unavailable at the moment.', advice: LATER },
  engine_unavailable: {
    message: 'An engine is unavailable at the moment.',
    advice: 'Run the command again later, or render with another engine: --engines NAME',
  },
  invalid_json: MISFIT,
  invalid_content_type: MISFIT,
  method_not_allowed: MISFIT,
  body_too_large: MISFIT,
  idempotency_key_mismatch: MISFIT,
  internal_error: { message: 'Something went wrong at the service.', advice: LATER },
};

/** What the user named, by its place in the request. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/^\/video\/(url|asset_id)\b/, 'The video'],
  [/^\/audio\/(url|asset_id)\b/, 'The voice'],
  [/^\/url\b/, 'The URL'],
  [/^\/webhook_url\b/, '--webhook'],
  [/^\/preparation_id\b/, '--preparation'],
  [/^\/idempotency_key\b/, '--idempotency-key'],
];

export function wordsOf({ code, message, requestId }: ApiError): { message: string; advice?: string } {
  const { message: own, advice } = WORDS[code] ?? {};
  const [place, name = ''] = PLACES.find(([pattern]) => pattern.test(message)) ?? [];
  const lines = [
    advice,
    // The operator finds the request by it.
    code === 'internal_error' && requestId !== undefined ? `The request was ${requestId}.` : undefined,
  ].filter((line) => line !== undefined);
  return {
    message: own ?? (place === undefined ? message : message.replace(place, name)),
    ...(lines.length > 0 && { advice: lines.join('\n') }),
  };
}
