import { setTimeout as delay } from 'node:timers/promises';
import { ATTEMPTS_MAX } from './s3-client';
import { isStorageUnavailable } from './storage-error';

const FIRST_DELAY_MS = 200;

/**
 * Repeats a transfer that the SDK cannot repeat by itself, because the first attempt uses up the stream. Retries only
 * after `unavailable`. Delays double from 200 ms.
 */
export async function tryAgain<T>(signal: AbortSignal | undefined, transfer: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transfer();
    } catch (error) {
      const worthIt = isStorageUnavailable(error) && attempt < ATTEMPTS_MAX;
      if (!worthIt) throw error;
      await delay(FIRST_DELAY_MS * 2 ** (attempt - 1), undefined, signal === undefined ? {} : { signal });
    }
  }
}
