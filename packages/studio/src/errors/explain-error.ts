import { type ErrorCode } from '@lipsync/client';

/** What went wrong, in words for someone who looks at a page, and what they can do. */
export interface Explanation {
  readonly title: string;
  readonly hint: string;
}

const AGAIN = 'Nothing is wrong with your files. Render again.';
const STORED = 'Go back and choose the file again. It will be uploaded once more.';
const STUDIO =
  'This should not happen on this page. Reload it; if it happens again, send the request id to your operator.';

/** By code. The compiler asks for an entry when the service gets a new code. */
const EXPLANATIONS: Readonly<Record<ErrorCode, readonly [title: string, hint: string]>> = {
  invalid_json: ['The service did not understand the request', STUDIO],
  invalid_content_type: ['The service did not understand the request', STUDIO],
  invalid_request: ['The service did not understand the request', STUDIO],
  invalid_idempotency_key: ['The service did not understand the request', STUDIO],
  idempotency_key_mismatch: ['The service did not understand the request', STUDIO],
  idempotency_key_reused: ['The service did not understand the request', STUDIO],
  method_not_allowed: ['The service did not understand the request', STUDIO],
  not_found: ['The service did not understand the request', STUDIO],
  body_too_large: ['The request is too large', STUDIO],
  invalid_media_url: [
    'This URL cannot be used',
    'Use a public URL that begins with https:// and leads to the file itself, or upload the file.',
  ],
  invalid_webhook_url: ['The webhook’s URL cannot be used', 'Use a public URL that begins with https://.'],
  unsupported_content_type: [
    'This kind of file is not supported',
    'Export the video as MP4, or the voice as WAV or MP3.',
  ],
  asset_type_mismatch: ['Video and voice are swapped', 'Choose a video as the video and audio as the voice.'],
  preparation_mismatch: [
    'The preparation belongs to another video',
    'Choose the video that was prepared, or render without the preparation.',
  ],
  invalid_api_key: ['Your key was refused', 'Sign in with a key that is valid.'],
  render_not_found: [
    'There is no such render',
    'It belongs to another customer, or the URL is incomplete. Sign in with a key of the customer who made it.',
  ],
  preparation_not_found: ['There is no such preparation', 'Prepare the video again.'],
  asset_not_found: ['The uploaded file is not there', STORED],
  upload_not_found: ['The upload is not there', STORED],
  webhook_event_not_found: ['There is no such webhook event', 'Look at the render itself.'],
  idempotency_in_progress: ['This render is already being created', 'Wait a moment and try again.'],
  render_not_cancellable: ['It is too late to cancel', 'The render has already ended.'],
  asset_not_ready: ['The upload has not arrived', STORED],
  asset_failed: ['The uploaded file cannot be used', 'Choose another file.'],
  preparation_not_ready: ['The preparation is not done', 'Wait until it is, or render without it.'],
  preparation_failed: ['The preparation did not work', 'Prepare the video again, or render without it.'],
  upload_incomplete: ['The upload has not arrived', STORED],
  upload_size_mismatch: ['The file changed while it was uploaded', 'Choose it again.'],
  render_expired: ['This render has expired', 'Results are kept for a limited time. Render again.'],
  preparation_expired: [
    'The preparation has expired',
    'It is kept for a limited time. Prepare the video again.',
  ],
  asset_expired: [
    'The uploaded file has expired',
    'Uploads are kept for a limited time. Render again: the file is uploaded once more.',
  ],
  upload_expired: ['The upload took too long', 'Try again with a faster connection or a smaller file.'],
  webhook_event_expired: ['The webhook event has expired', 'Look at the render itself.'],
  rate_limit_exceeded: ['Too many requests', 'Wait a few seconds and try again.'],
  concurrency_limit_exceeded: [
    'Too much is under way with your key',
    'Wait until a render or an upload has ended, or cancel one, and try again.',
  ],
  service_unavailable: [
    'The service is not available right now',
    'Wait a moment and try again. Nothing is lost.',
  ],
  engine_unavailable: [
    'An engine is not available right now',
    'Try again in a minute, or choose another engine.',
  ],
  internal_error: [
    'Something went wrong on our side',
    'Try again. If it happens again, send the request id to your operator.',
  ],
  media_download_failed: [
    'A file could not be fetched from its URL',
    'Its server did not answer. Try again, or upload the file instead.',
  ],
  media_not_accessible: [
    'A URL does not lead to a file',
    'It needs a login, is gone, or leads to a page. Use a public URL of the file itself, or upload the file.',
  ],
  media_url_not_allowed: [
    'A URL leads to a place that is not allowed',
    'Use a URL that is public and does not redirect more than three times, or upload the file.',
  ],
  media_too_large: [
    'A file is larger than 256 MiB',
    'Export it smaller, for instance with a lower bit rate.',
  ],
  media_too_long: ['A file is longer than 5 minutes', 'Cut it into pieces and render them one by one.'],
  media_type_mismatch: [
    'A file does not contain what it should',
    'The video needs pictures, and the voice needs sound. Choose another file.',
  ],
  media_unsupported: [
    'A file has a format that is not supported',
    'Export the video as MP4 with H.264, or the voice as WAV.',
  ],
  media_corrupt: ['A file is damaged', 'It does not play to the end. Export it again.'],
  upload_changed: ['The uploaded file was replaced', 'Choose the file again.'],
  no_face_detected: [
    'No face was found in the video',
    'Use a video that shows a face from the front, well lit and not too small.',
  ],
  engine_timeout: ['The engine took too long', `${AGAIN} A shorter clip or another engine also helps.`],
  engine_out_of_memory: ['The engine ran out of memory', `${AGAIN} A lower resolution also helps.`],
  worker_lost: ['The work was interrupted several times', AGAIN],
  engine_failed: ['The engine failed', `${AGAIN} If it fails again, try another engine.`],
  encode_failed: ['The result could not be written', AGAIN],
  storage_failed: ['The files could not be read or stored', AGAIN],
  all_engines_failed: ['No engine succeeded', 'Each has its own reason, below.'],
  deadline_exceeded: [
    'The work was not done within two hours',
    'The service is very busy. Render again later.',
  ],
};

/** Explains an error of a request, or of a failed render. An unknown code is one of a newer service. */
export function explainCode(code: string, message: string): Explanation {
  const [title, hint] = Object.entries(EXPLANATIONS).find(([known]) => known === code)?.[1] ?? [
    'Something went wrong',
    message,
  ];
  return { title, hint };
}
