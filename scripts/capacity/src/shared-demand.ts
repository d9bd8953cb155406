import { RECORD_TTL_SECONDS, TOMBSTONE_SECONDS } from '@lipsync/domain';
import { type Profile } from './profile';

/** The total load of all pods on the one Postgres and the one Redis. */
export interface SharedDemand {
  readonly postgres: {
    /** Upper bound: every pod has a connection pool (default DATABASE_POOL_MAX). */
    readonly connections: number;
    readonly transactionsPerSecond: number;
    readonly cores: number;
    readonly walBytesPerSecond: number;
    /** Rows and indexes of records and their tombstones, if this rate lasted all day. */
    readonly storedBytes: number;
  };
  readonly redis: { readonly commandsPerSecond: number; readonly cores: number };
}

const CONNECTIONS_PER_POD = 10;

/**
 * Renders cause load by their number, processes by running. Of the processes, media workers and dispatchers poll while
 * idle. Both were measured together, so `idleAsking` is the larger of their numbers.
 */
export function sharedDemand(
  { per_render, idle }: Pick<Profile, 'per_render' | 'idle'>,
  rendersPerHour: number,
  pods: { readonly all: number; readonly idleAsking: number },
): SharedDemand {
  const perSecond = rendersPerHour / 3600;
  const rate = (ofRender: number, ofIdle: number): number => perSecond * ofRender + pods.idleAsking * ofIdle;
  const cores = (server: string): number =>
    rate(per_render.cpu_seconds[server] ?? 0, idle.cpu_seconds_per_second[server] ?? 0);
  return {
    postgres: {
      connections: pods.all * CONNECTIONS_PER_POD,
      transactionsPerSecond: rate(per_render.database_transactions, idle.database_transactions_per_second),
      cores: cores('postgres'),
      walBytesPerSecond: perSecond * per_render.wal_bytes,
      storedBytes: perSecond * per_render.stored_row_bytes * (RECORD_TTL_SECONDS + TOMBSTONE_SECONDS),
    },
    redis: {
      commandsPerSecond: rate(per_render.redis_commands, idle.redis_commands_per_second),
      cores: cores('redis'),
    },
  };
}
