import type { ErrorBody, ErrorCode } from '@lipsync/contract';
import { ApiError } from '@lipsync/local-stack';

/** Expects a call to be refused with this status and code. Returns the error object, to compare it with another. */
export async function expectRefusal(
  call: Promise<unknown>,
  status: number,
  code: ErrorCode,
): Promise<ErrorBody> {
  const outcome: unknown = await call.then(
    () => 'accepted',
    (error: unknown) => error,
  );
  if (!(outcome instanceof ApiError)) throw new Error(`not refused: ${String(outcome)}`);
  expect({ status: outcome.status, code: outcome.error.code }).toEqual({ status, code });
  return outcome.error;
}
