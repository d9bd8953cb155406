import { DATABASE_WAIT_MS } from '@lipsync/db';
import { ServiceError } from '@lipsync/domain';

/** How long a request waits to be sent to the database with others; while that is silent, the next may wait as long again. */
export const DATABASE_WAIT = {
  waitMs: DATABASE_WAIT_MS,
  error: () =>
    new ServiceError('service_unavailable', { cause: new Error('the database did not get to it in time') }),
};
