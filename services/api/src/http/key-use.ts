import { type Clock, type Logger } from '@lipsync/runtime';

const RESOLUTION_MS = 60_000;

/**
 * Records in the background that a key was used, at most once a minute per process. Losing a record does no harm, so
 * recording neither delays nor refuses the request that caused it.
 */
export function createKeyUse(deps: {
  touch: (keyId: string) => Promise<void>;
  clock: Clock;
  logger: Logger;
}): (keyId: string) => void {
  const notedAt = new Map<string, number>();
  return (keyId) => {
    const now = deps.clock.now();
    if (now - (notedAt.get(keyId) ?? -Infinity) < RESOLUTION_MS) return;
    notedAt.set(keyId, now);
    deps.touch(keyId).catch((error: unknown) => {
      notedAt.delete(keyId);
      deps.logger.warn('could not note the use of a key', { api_key_id: keyId, error });
    });
  };
}
