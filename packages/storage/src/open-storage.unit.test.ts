import { type Logger } from '@lipsync/runtime';
import { waitForStorageAccess } from './open-storage';
import { StorageError } from './storage-error';

const ping = 'ping';

/** A store that gives these answers in sequence, and an operator's log. */
function answering(...answers: (Error | null)[]) {
  const told: string[] = [];
  const logger = { error: (message: string) => told.push(message) } as unknown as Logger;
  const storage = {
    ping: async (): Promise<void> => {
      const answer = answers.shift();
      if (answer === undefined) throw new Error('nobody should have asked again');
      if (answer !== null) throw answer;
    },
  };
  return { storage, logger, told, left: answers };
}

describe('waitForStorageAccess', () => {
  const { signal } = new AbortController();

  it('waits while the store refuses, logs that once, and continues when it accepts', async () => {
    const refused = new StorageError('rejected', ping);
    const store = answering(refused, new StorageError('not_found', ping), refused, null);
    await waitForStorageAccess(store.storage, { logger: store.logger, signal, everyMs: 0 });
    expect(store.left).toEqual([]);
    expect(store.told).toEqual([expect.stringContaining('refuses this worker')]);
  });

  it('does not wait for an unavailable store, since jobs are postponed by themselves', async () => {
    const store = answering(new StorageError('unavailable', ping));
    await waitForStorageAccess(store.storage, { logger: store.logger, signal });
    expect(store.told).toEqual([]);
  });

  it('takes a store that stays silent for unavailable', async () => {
    jest.useFakeTimers();
    try {
      let asked: AbortSignal | undefined;
      const silent = (options: { signal?: AbortSignal } = {}): Promise<void> =>
        new Promise((_, reject) => {
          asked = options.signal;
          asked?.addEventListener('abort', () => reject(new Error('too late')));
        });
      const { logger, told } = answering();
      const waiting = waitForStorageAccess({ ping: silent }, { logger, signal });
      await jest.advanceTimersByTimeAsync(5_000);
      expect(asked?.aborted).toBe(true);
      await waiting;
      expect(told).toEqual([]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('ends at once when the worker is told to stop', async () => {
    const stop = new AbortController();
    const store = answering(new StorageError('rejected', ping));
    const waiting = waitForStorageAccess(store.storage, {
      logger: store.logger,
      signal: stop.signal,
      everyMs: 3_600_000,
    });
    stop.abort();
    await waiting;
    expect(store.left).toEqual([]);
  });
});
