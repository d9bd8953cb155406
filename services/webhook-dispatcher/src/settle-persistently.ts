import { setTimeout as delay } from 'node:timers/promises';
import { type Logger } from '@lipsync/runtime';

const RETRY_MS = 500;

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
  const giveUpAtMs = performance.now() + options.forMs;
  for (;;) {
    try {
      return await options.settle();
    } catch (error) {
      if (performance.now() + RETRY_MS >= giveUpAtMs) {
        options.logger.error('could not settle a delivery before its claim ran out', {
          delivery_id: options.deliveryId,
          error,
        });
        return null;
      }
    }
    await delay(RETRY_MS);
  }
}
