import { type Engine } from '@lipsync/contract';
import { type Db, liveEngines } from '@lipsync/db';
import { type HealthCheck } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';

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
      if (deps.enginesOnDemand.length > 0) return;
      const engines = await liveEngines(deps.db);
      if (engines.size === 0) throw new Error('no worker serves any engine');
    },
  };
}
