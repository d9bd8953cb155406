import { type Db } from '@lipsync/db';
import { type Consumer, type Queues } from '@lipsync/queue';
import {
  createHealthServer,
  type HealthServer,
  type Logger,
  type MetricsSource,
  NotReadyYet,
} from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { consumerFetches } from '@lipsync/worker';
import { type FoundPacks } from '../host/find-packs';

/** The health of a worker that may load packs for many minutes before it serves anything. */
export interface WorkerHealth extends HealthServer {
  /** These packs are loaded. */
  loaded(packs: Pick<FoundPacks, 'engines'>): void;
  /** The consumer fetches jobs for them: some time after that, for the store may refuse the worker. */
  serving(consumer: Pick<Consumer, 'silentMs'>): void;
}

/**
 * Alive: loads packs, no longer than `loadingLimitMs`, and from then on its consumer fetches. Ready: the packs are
 * loaded, one of them is for an engine, and what the worker needs answers. A worker whose packs were refused is alive
 * and not ready: starting it anew would refuse them again.
 */
export function createWorkerHealth(options: {
  port: number;
  host?: string | undefined;
  db: Pick<Db, 'ping'>;
  storage: Pick<Storage, 'ping'>;
  queues: Pick<Queues, 'ping'>;
  stopping: AbortSignal;
  metrics: MetricsSource;
  logger: Pick<Logger, 'info' | 'warn'>;
  loadingLimitMs: number;
}): WorkerHealth {
  const { port, host, db, storage, queues, stopping, metrics, logger, loadingLimitMs } = options;
  const startedAt = performance.now();
  let engines: number | undefined;
  let fetches: (() => Promise<void>) | undefined;

  const server = createHealthServer({
    ...{ port, host, stopping, metrics, logger },
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
    loaded: (packs) => {
      engines = packs.engines.size;
    },
    serving: (consumer) => {
      fetches = consumerFetches(consumer, () => queues.ping());
    },
  };
}
