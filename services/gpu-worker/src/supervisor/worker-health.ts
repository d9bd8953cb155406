import { type Db } from '@lipsync/db';
import { type Queues } from '@lipsync/queue';
import { createHealthServer, type Logger, type MetricsSource, NotReadyYet } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { consumerFetches, type Worker } from '@lipsync/worker';
import { type FoundPacks } from '../host/find-packs';

/**
 * Alive: it loads packs, for at most `loadingLimitMs`, and afterwards it takes jobs. Ready: the packs are
 * loaded, at least one is for an engine, and the worker's dependencies respond. A worker whose packs were refused is
 * alive but not ready: a restart would only refuse them again.
 */
export function createWorkerHealth(deps: {
  port: number;
  host?: string | undefined;
  db: Pick<Db, 'ping'>;
  storage: Pick<Storage, 'ping'>;
  queues: Pick<Queues, 'ping'>;
  stopping: AbortSignal;
  metrics: MetricsSource;
  logger: Pick<Logger, 'info' | 'warn'>;
  loadingLimitMs: number;
}) {
  const { port, host, db, storage, queues, stopping, metrics, logger, loadingLimitMs } = deps;
  const startedAt = performance.now();
  let engines: number | undefined;
  let fetches: (() => Promise<void>) | undefined;

  const server = createHealthServer({
    port,
    host,
    stopping,
    metrics,
    logger,
    live: {
      packs: async () => {
        const isLate = performance.now() - startedAt > loadingLimitMs;
        if (engines === undefined && isLate) throw new Error('loading the packs hangs');
      },
      consumer: async () => fetches?.(),
    },
    ready: {
      database: () => db.ping(),
      storage: (signal) => storage.ping({ signal }),
      packs: async () => {
        if (engines === undefined) throw new NotReadyYet('packs are being loaded');
      },
      engines: async () => {
        if (engines === undefined) throw new NotReadyYet('packs are being loaded');
        if (engines === 0) throw new Error('no engine is available');
      },
    },
  });
  return {
    ...server,
    /** Called when these packs are loaded. */
    loaded: (packs: Pick<FoundPacks, 'engines'>): void => {
      engines = packs.engines.size;
    },
    /**
     * Called when the worker takes jobs, some time after `loaded`, because the store may refuse the worker at first.
     */
    serving: (worker: Pick<Worker, 'silentMs'>): void => {
      fetches = consumerFetches(worker, () => queues.ping());
    },
  };
}
