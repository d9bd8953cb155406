import {
  ApiError,
  AssetFailed,
  ConnectionError,
  LipSyncError,
  PreparationFailed,
  RenderCancelled,
  RenderFailed,
  TimeoutError,
  UnexpectedResponse,
  WebhookVerificationError,
  type WebhookVerificationReason,
} from '@lipsync/client';
import { isObject } from '../is-object';
import { CommandError, EXIT_CODES, type Outcome } from './exit-codes';
import { SEE_CONNECTION, wordsOf } from './refusals';

/** A failure as a command reports it. */
export interface Failure {
  outcome: Outcome;
  message: string;
  /** A code of the service's catalogue, or a word of this command for what it found itself. */
  code: string;
  /** The same command can succeed later. */
  retryable: boolean;
  advice?: string | undefined;
  requestId?: string | undefined;
  /** The render, preparation or asset that failed, under that name. */
  subject?: object | undefined;
}

/** What to change where media could not be used, in more words than the service has. */
export const MEDIA_ADVICE: Readonly<Record<string, string>> = {
  media_too_long: 'Cut it to 300 seconds, for instance: ffmpeg -i in.mp4 -t 300 -c copy out.mp4',
  media_too_large: 'Encode it at a lower rate, for instance: ffmpeg -i in.mp4 -c:v libx264 -crf 23 out.mp4',
  media_unsupported:
    'Convert it, for instance: ffmpeg -i in -c:v libx264 -pix_fmt yuv420p out.mp4 for a video, ffmpeg -i in out.wav for a voice.',
  no_face_detected: 'Use a video that shows a face, large enough and turned to the camera.',
};

const AGAIN = 'The input is fine: run the command again.';

export function failureOf(error: unknown): Failure {
  if (error instanceof CommandError) {
    const { outcome, message, advice } = error;
    return { outcome, code: outcome, retryable: outcome === 'later', message, advice };
  }
  if (error instanceof ApiError) {
    const { code, retryable, requestId } = error;
    const outcome = error.status === 401 ? 'unauthorized' : retryable ? 'later' : 'failed';
    return { outcome, code, retryable, requestId, ...wordsOf(error) };
  }
  if (error instanceof RenderFailed)
    return unsuccessful(error, `Render ${error.record.id} failed`, error.record.error, {
      render: error.record,
    });
  if (error instanceof PreparationFailed)
    return unsuccessful(error, `Preparation ${error.record.id} failed`, error.record.error, {
      preparation: error.record,
    });
  if (error instanceof AssetFailed)
    return unsuccessful(error, `Asset ${error.asset.id} failed`, error.asset.error, { asset: error.asset });
  if (error instanceof RenderCancelled) {
    const { record } = error;
    const cancelled = { code: 'cancelled', retryable: false };
    return unsuccessful(cancelled, `Render ${record.id} was cancelled`, undefined, { render: record });
  }
  if (error instanceof LipSyncError) return failureOfClient(error);
  return failureOfSystem(error);
}

/** Says whether the service has forgotten what was asked for, or it belongs to another key. */
export function isForgotten(error: unknown): boolean {
  return error instanceof ApiError && /_(not_found|expired)$/.test(error.code);
}

/** The service's word for why something failed, without telling programs to try again, which the command's advice does. */
export function whyFailed({ retryable, message }: { retryable: boolean; message: string }): string {
  return retryable ? inTwo(message).why : message;
}

/** The service's words: what happened; what to do. */
function inTwo(message: string): { why: string; then: string | undefined } {
  const [why = '', then] = message.split('; ', 2);
  return { why: then === undefined ? why : `${why}.`, then };
}

function unsuccessful(
  { code, retryable }: Pick<Failure, 'code' | 'retryable'>,
  what: string,
  reason: { message: string } | undefined,
  subject: object,
): Failure {
  const words = reason && inTwo(reason.message);
  const then = words?.then;
  return {
    outcome: 'unsuccessful',
    code,
    retryable,
    message: words === undefined ? `${what}.` : `${what}: ${words.why} (${code})`,
    subject,
    advice: retryable
      ? AGAIN
      : (MEDIA_ADVICE[code] ?? (then && then.charAt(0).toUpperCase() + then.slice(1))),
  };
}

/** What the client detected itself. Its messages are written for programmers. */
function failureOfClient(error: LipSyncError): Failure {
  if (error instanceof ConnectionError)
    return {
      ...{ outcome: 'later', code: 'unreachable', retryable: true },
      message: `${isTransfer(error) ? `The ${error.exchange} was cut off` : 'The service does not answer'}${reasonIn(error)}.`,
      advice: `Is its URL right, and can this machine reach it?\n${SEE_CONNECTION}`,
    };
  if (error instanceof TimeoutError)
    return {
      ...{ outcome: 'later', code: 'timeout', retryable: true },
      message: 'The service takes too long to answer.',
      advice: 'Run the command again later.',
    };
  if (error instanceof UnexpectedResponse) {
    const { status, detail } = error;
    const retryable = status >= 500;
    // There is nothing more to say about an answer outside the contract, unless it leads elsewhere.
    const saysMore = detail !== '' && (isTransfer(error) || (status >= 300 && status < 400));
    const answer = `status ${status}${saysMore ? ` (${detail})` : ''}`;
    return {
      ...{ outcome: retryable ? 'later' : 'failed', code: 'unexpected_response', retryable },
      ...(isTransfer(error)
        ? { message: `The ${error.exchange} was refused by the service's object store with ${answer}.` }
        : { message: `Something other than the service answered with ${answer}.`, advice: WHO_ANSWERS }),
    };
  }
  if (error instanceof WebhookVerificationError)
    return {
      ...{ outcome: 'failed', code: error.reason, retryable: false },
      ...UNVERIFIED[error.reason],
    };
  return { outcome: 'failed', code: 'failed', retryable: false, message: `${error.message}.` };
}

/** Bytes go to the store and come from there, not from the service itself. */
function isTransfer({ exchange }: ConnectionError | UnexpectedResponse): boolean {
  return exchange === 'upload' || exchange === 'download';
}

const WHO_ANSWERS = `The cause may be a proxy between here and the service, or a wrong URL.\n${SEE_CONNECTION}`;

/** Why there was no connection: what the system said, at the end of the causes. */
function reasonIn({ cause }: { cause?: unknown }): string {
  if (!isObject(cause)) return '';
  if (isObject(cause['cause'])) return reasonIn(cause);
  return typeof cause['message'] === 'string' && cause['message'] !== '' ? ` (${cause['message']})` : '';
}

const HEADERS_NEEDED =
  "Run it with -H 'Svc-Signature: …' and -H 'Svc-Delivery-ID: …', as they were received.";
const UNVERIFIED: Record<WebhookVerificationReason, Pick<Failure, 'message' | 'advice'>> = {
  missing_header: { message: 'A header of the delivery is missing.', advice: HEADERS_NEEDED },
  malformed_signature: { message: 'Svc-Signature is not a signature.', advice: HEADERS_NEEDED },
  wrong_signature: {
    message: 'The delivery was not signed with this secret.',
    advice: 'Or this body is not exactly what was received.',
  },
  timestamp_out_of_tolerance: {
    message: 'The delivery was signed outside the allowed time.',
    advice: 'For an old delivery: --tolerance 24h. Otherwise check the clock of this machine.',
  },
  body_too_large: { message: 'The body is larger than any event.' },
  malformed_event: { message: 'The body is signed, but is not JSON.' },
};

/** What the system, or this command itself, cannot do. */
function failureOfSystem(error: unknown): Failure {
  const code = textOf(error, 'code');
  const words = textOf(error, 'syscall') === undefined ? undefined : FILE_ERRORS[code ?? ''];
  return {
    // A file that was named and is not there is a wrong command line.
    outcome: code === 'ENOENT' ? 'usage' : 'failed',
    code: code ?? 'failed',
    retryable: false,
    message:
      words === undefined
        ? (textOf(error, 'message') ?? String(error))
        : `${textOf(error, 'path') ?? 'A file'} ${words}.`,
  };
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  ENOTDIR: 'leads through a file, not a folder',
  EACCES: 'is not accessible to you',
  EPERM: 'is not accessible to you',
  EROFS: 'cannot be written: the disk is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  EDQUOT: 'cannot be written: your quota is used up',
};

function textOf(error: unknown, name: 'code' | 'message' | 'path' | 'syscall'): string | undefined {
  const value = isObject(error) ? error[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** A failure as the one document that --json prints. */
export function failureDocument(failure: Failure): object {
  const { outcome, code, message, retryable, advice, requestId, subject } = failure;
  return {
    error: { code, message, retryable, advice, request_id: requestId },
    exit_code: EXIT_CODES[outcome],
    ...subject,
  };
}
