import { isDatabaseUnavailable } from '@lipsync/db';
import { type Logger, retryWhile } from '@lipsync/runtime';

/**
 * Writes an outcome, trying again while the database is away, until the claim runs out anyway (`forMs`). Resolves to what
 * `settle` does. Null also when nothing was written: the delivery is sent once more under the same ids, which receivers
 * are told to expect.
 */
export async function settlePersistently<State>(options: {
  settle: () => Promise<State | null>;
  forMs: number;
  deliveryId: string;
  logger: Logger;
}): Promise<State | null> {
  const { settle, forMs, deliveryId, logger } = options;
  // One try at least, however late it is.
  const claimOver = AbortSignal.timeout(Math.max(0, Math.round(forMs)));
  try {
    return await retryWhile(isDatabaseUnavailable, claimOver, settle);
  } catch (error) {
    logger.error('could not settle a delivery', { delivery_id: deliveryId, error });
    return null;
  }
}
