import { setTimeout as pause } from 'node:timers/promises';
import { type Logger } from '@lipsync/runtime';
import { type Storage } from './storage';
import { StorageError } from './storage-error';

const AGAIN_AFTER_MS = 5_000;
/** A store that says nothing for so long is away, not unwilling. */
const SILENCE_MS = 5_000;

/**
 * Waits while the store refuses this process: its key or its bucket is wrong. A worker that went to work would take job
 * after job from those that could do them. Resolves also when the store is away, which jobs wait for by themselves, and
 * when `signal` is aborted.
 */
export async function untilLetIn(
  storage: Pick<Storage, 'ping'>,
  { logger, signal, everyMs = AGAIN_AFTER_MS }: { logger: Logger; signal: AbortSignal; everyMs?: number },
): Promise<void> {
  let told = false;
  for (;;) {
    try {
      await storage.ping({ signal: AbortSignal.any([signal, AbortSignal.timeout(SILENCE_MS)]) });
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
