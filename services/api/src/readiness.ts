import { type Engine, ENGINES } from '@lipsync/contract';
import { type Db, liveQueues } from '@lipsync/db';
import { type HealthCheck } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';

/**
 * Passes for good once it has passed. A process that has never reached what all of them need gets no requests; once it
 * has, it answers them also while that is away, with an error of the contract: were all taken out of their load balancer,
 * this would answer in its own words.
 */
export function onceReached(check: HealthCheck): HealthCheck {
  let reached = false;
  return async (signal) => {
    if (!reached) await check(signal);
    reached = true;
  };
}

/** What the service as a whole needs to do its work, each check throwing when it is not there. */
export function readinessChecks(deps: {
  db: Db;
  storage: Storage;
  pingRedis: () => Promise<unknown>;
  /** Workers of these may be away until there is work for them. */
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
