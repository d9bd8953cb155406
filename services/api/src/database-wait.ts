import { DATABASE_WAIT_MS } from '@lipsync/db';
import { ServiceError } from '@lipsync/domain';

/**
 * How long a request may wait for its turn in a batch. If the database then stays silent, getting a connection may take
 * as long again.
 */
export const DATABASE_WAIT = {
  waitMs: DATABASE_WAIT_MS,
  error: () =>
    new ServiceError('service_unavailable', { cause: new Error('the database did not get to it in time') }),
};
