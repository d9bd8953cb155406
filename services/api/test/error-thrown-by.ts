import { isServiceError, type ServiceError } from '@lipsync/domain';

/** The ServiceError that a call throws; fails when it throws none. */
export function errorThrownBy(run: () => unknown): ServiceError {
  try {
    run();
  } catch (error) {
    if (isServiceError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
