import { isDatabaseUnavailable } from '@lipsync/db';
import { isServiceError, ServiceError } from '@lipsync/domain';

/** Maps anything that was thrown to the error that the caller sees. The cause goes to the log only. */
export function toServiceError(thrown: unknown): ServiceError {
  if (isServiceError(thrown)) return thrown;
  const code = isDatabaseUnavailable(thrown) ? 'service_unavailable' : 'internal_error';
  return new ServiceError(code, { cause: thrown });
}
