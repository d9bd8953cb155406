import {
  ApiError,
  type ApiErrorCode,
  AssetFailed,
  ConnectionError,
  LipSyncError,
  PreparationFailed,
  RenderCancelled,
  RenderFailed,
  TimeoutError,
  UnexpectedResponse,
  WebhookVerificationError,
} from '@lipsync/client';
import { CommandError, EXIT_CODES, type Outcome } from './exit-codes';

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

const LOG_IN = 'Log in again with lipsync login, or correct LIPSYNC_API_KEY.';
const AGAIN = 'Nothing of the input is wrong: run the command again.';

/** What the user of this command can do, where the service's message is written for programs. */
const ADVICE: Partial<Record<ApiErrorCode, string>> = {
  invalid_api_key: LOG_IN,
  asset_type_mismatch: 'The video comes first and the voice second.',
  asset_expired: 'Upload the file again.',
  preparation_expired: 'Prepare the video again: lipsync prepare VIDEO',
  render_expired: "Render again: results are kept until the render's expires_at.",
  concurrency_limit_exceeded: 'Wait for one of your renders to finish, or cancel it: lipsync cancel ID',
  idempotency_key_reused:
    'A file that is uploaded again is another input: repeat with the same asset ids or addresses.',
  not_found: 'Is the address of the service right? It is that of the API, without /v1.',
};

export function failureOf(error: unknown): Failure {
  if (error instanceof CommandError) {
    const { outcome, message, advice } = error;
    return { outcome, code: outcome, retryable: outcome === 'later', message, advice };
  }
  if (error instanceof ApiError) {
    const { code, retryable, requestId, message } = error;
    const outcome = error.status === 401 ? 'unauthorized' : retryable ? 'later' : 'failed';
    return { outcome, code, retryable, requestId, message, advice: ADVICE[code] };
  }
  if (error instanceof RenderFailed) return unsuccessful(error, { render: error.record });
  if (error instanceof PreparationFailed) return unsuccessful(error, { preparation: error.record });
  if (error instanceof AssetFailed) return unsuccessful(error, { asset: error.asset });
  if (error instanceof RenderCancelled)
    return unsuccessful(
      { code: 'cancelled', retryable: false, message: error.message },
      { render: error.record },
    );
  return failureOfConnection(error);
}

function unsuccessful(
  { code, retryable, message }: Pick<Failure, 'code' | 'retryable' | 'message'>,
  subject: object,
): Failure {
  return {
    outcome: 'unsuccessful',
    code,
    retryable,
    message,
    subject,
    advice: retryable ? AGAIN : undefined,
  };
}

function failureOfConnection(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ConnectionError)
    return {
      ...{ outcome: 'later', code: 'unreachable', retryable: true, message },
      advice: 'Is the address of the service right, and can this machine reach it? See lipsync profiles',
    };
  if (error instanceof TimeoutError) return { outcome: 'later', code: 'timeout', retryable: true, message };
  if (error instanceof UnexpectedResponse) {
    const retryable = error.status >= 500;
    const advice =
      'Something between here and the service answered. Is the address right? See lipsync profiles';
    return {
      outcome: retryable ? 'later' : 'failed',
      code: 'unexpected_response',
      retryable,
      message,
      advice,
    };
  }
  if (error instanceof WebhookVerificationError)
    return { outcome: 'failed', code: error.reason, retryable: false, message };
  if (error instanceof LipSyncError) return { outcome: 'failed', code: 'failed', retryable: false, message };
  // The client's word for a wrong argument, for instance a file of no known type.
  if (error instanceof TypeError) return { outcome: 'usage', code: 'usage', retryable: false, message };
  return { outcome: 'failed', code: codeOf(error) ?? 'failed', retryable: false, message };
}

/** The code of a failed operation on a file, such as ENOSPC. */
function codeOf(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error;
  return hasCode && typeof error.code === 'string' ? error.code : undefined;
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
