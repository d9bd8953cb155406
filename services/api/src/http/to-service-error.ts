import { isDatabaseUnavailable } from '@lipsync/db';
import { isServiceError, ServiceError } from '@lipsync/domain';

/** What the caller is told about anything that was thrown. The cause is for the log alone. */
export function toServiceError(thrown: unknown): ServiceError {
  if (isServiceError(thrown)) return thrown;
  const code = isDatabaseUnavailable(thrown) ? 'service_unavailable' : 'internal_error';
  return new ServiceError(code, { cause: thrown });
}
