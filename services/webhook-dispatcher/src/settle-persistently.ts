import { isDatabaseUnavailable } from '@lipsync/db';
import { type Logger, retryWhile } from '@lipsync/runtime';

/**
 * Writes an outcome, retrying while the database is away until the claim runs out (`forMs`). Resolves to the result of
 * `settle`, or to null when nothing was written: the delivery is then sent once more under the same ids, which
 * receivers are told to expect.
 */
export async function settlePersistently<State>(options: {
  settle: () => Promise<State | null>;
  forMs: number;
  deliveryId: string;
  logger: Logger;
}): Promise<State | null> {
  const { settle, forMs, deliveryId, logger } = options;
  // At least one try, however late it is.
  const claimOver = AbortSignal.timeout(Math.max(0, Math.round(forMs)));
  try {
    return await retryWhile(isDatabaseUnavailable, claimOver, settle);
  } catch (error) {
    logger.error('could not settle a delivery', { delivery_id: deliveryId, error });
    return null;
  }
}
