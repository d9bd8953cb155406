import { RECORD_TTL_SECONDS, TOMBSTONE_SECONDS } from '@lipsync/domain';
import { type Profile } from './profile';

/** What all pods together ask of the one Postgres and the one Redis. */
export interface SharedDemand {
  readonly postgres: {
    /** At most: every pod has a pool (DATABASE_POOL_MAX, as it is unless set). */
    readonly connections: number;
    readonly transactionsPerSecond: number;
    readonly cores: number;
    readonly walBytesPerSecond: number;
    /** Rows and indexes of records and their tombstones, if the rate were that all day. */
    readonly storedBytes: number;
  };
  readonly redis: { readonly commandsPerSecond: number; readonly cores: number };
}

const CONNECTIONS_PER_POD = 10;

/**
 * Renders ask by their number, processes by being there. Of these it is media workers and dispatchers that ask while
 * nothing happens; both are measured together, so `idleAsking` is
 * the greater of their numbers.
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
