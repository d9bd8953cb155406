import { ServiceError } from '@lipsync/domain';

/** As long as for a connection of the pool. */
const WAIT_MS = 5_000;

/** How long a request waits to be sent to the database with others; while that is silent, the next may wait as long again. */
export const DATABASE_WAIT = {
  waitMs: WAIT_MS,
  error: () =>
    new ServiceError('service_unavailable', { cause: new Error('the database did not get to it in time') }),
};
