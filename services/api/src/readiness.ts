import { type Engine, ENGINES } from '@lipsync/contract';
import { type Db, liveQueues } from '@lipsync/db';
import { type HealthCheck } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';

/**
 * Checks until the first success, then always passes. A process that has never reached its shared dependencies gets no
 * requests. One that has keeps getting them during an outage and answers with the contract's errors: if every process
 * left the load balancer, the balancer would answer with errors of its own.
 */
export function onceReached(check: HealthCheck): HealthCheck {
  let reached = false;
  return async (signal) => {
    if (!reached) await check(signal);
    reached = true;
  };
}

/** The dependencies that the service as a whole needs; each check throws when its dependency is unavailable. */
export function readinessChecks(deps: {
  db: Db;
  storage: Storage;
  pingRedis: () => Promise<unknown>;
  /** Engines whose workers may be absent until there is work for them. */
  enginesOnDemand: readonly Engine[];
}): Readonly<Record<string, HealthCheck>> {
  return {
    postgres: () => deps.db.ping(),
    redis: deps.pingRedis,
    s3: (signal) => deps.storage.ping({ signal }),
    workers: async () => {
      const live = await liveQueues(deps.db);
      if (!live.has('media')) throw new Error('no worker fetches inputs');
      if (deps.enginesOnDemand.length === 0 && !ENGINES.some((engine) => live.has(engine)))
        throw new Error('no worker serves any engine');
    },
  };
}
