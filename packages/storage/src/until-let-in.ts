import { setTimeout as pause } from 'node:timers/promises';
import { type Logger, withController } from '@lipsync/runtime';
import { type Storage } from './storage';
import { StorageError } from './storage-error';

const AGAIN_AFTER_MS = 5_000;
/** A store that stays silent for this long is unavailable, rather than refusing. */
const SILENCE_MS = 5_000;

/**
 * Waits while the store refuses this process because its key or its bucket is wrong. Otherwise the worker would take
 * job after job from workers that could do them. Also resolves if the store is unavailable, which jobs wait for by
 * themselves, and when `signal` is aborted.
 */
export async function untilLetIn(
  storage: Pick<Storage, 'ping'>,
  { logger, signal, everyMs = AGAIN_AFTER_MS }: { logger: Logger; signal: AbortSignal; everyMs?: number },
): Promise<void> {
  let told = false;
  for (;;) {
    try {
      await withController({ signal, ms: SILENCE_MS }, (asking) => storage.ping({ signal: asking.signal }));
      return;
    } catch (error) {
      if (signal.aborted || !isRefusal(error)) return;
      if (!told)
        logger.error('the object store refuses this worker, which takes no job meanwhile', { error });
      told = true;
    }
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof StorageError && error.kind !== 'unavailable';
}
