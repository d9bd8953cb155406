import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Stack } from '@lipsync/scripts';
import { type Client } from 'pg';
import { redisInfo } from './redis-info';
import { treeCpuSeconds } from './tree-cpu';

/** Cumulative use of every resource so far. */
export interface Snapshot {
  readonly atMs: number;
  readonly transactions: number;
  readonly walBytes: number;
  readonly rowBytes: number;
  readonly redisCommands: number;
  /** By service and process: a restarted process begins at 0. */
  readonly processes: readonly { readonly name: string; readonly pid: number; readonly cpuSeconds: number }[];
}

/** Processor seconds by service between two snapshots. The use of processes that have ended in between is unknown. */
export function cpuBetween(before: Snapshot, after: Snapshot): Record<string, number> {
  return Object.fromEntries(
    after.processes.map(({ name, pid, cpuSeconds }) => {
      const same = before.processes.find((process) => process.pid === pid);
      return [name, cpuSeconds - (same?.cpuSeconds ?? 0)];
    }),
  );
}

export async function takeSnapshot(client: Client, redisUrl: string, stack: Stack): Promise<Snapshot> {
  // Postgres publishes a session's statistics at most once a second, and caches them within the querying transaction.
  const { rows } = await client.query<{ transactions: string; wal: string; bytes: string }>(`
    SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS transactions,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal,
      (SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace)
        AS bytes`);
  const [row] = rows;
  const redis = await redisInfo(redisUrl);
  return {
    atMs: Date.now(),
    transactions: Number(row?.transactions),
    walBytes: Number(row?.wal),
    rowBytes: Number(row?.bytes),
    redisCommands: Number(redis.get('total_commands_processed')),
    processes: [
      ...(stack.describe()?.services ?? []),
      { name: 'postgres', pid: postmasterPid(stack) },
      { name: 'redis', pid: Number(redis.get('process_id')) },
    ].flatMap(({ name, pid }) => (pid === null ? [] : [{ name, pid, cpuSeconds: treeCpuSeconds(pid) }])),
  };
}

function postmasterPid({ layout }: Stack): number | null {
  try {
    return Number(readFileSync(path.join(layout.postgresDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    // A server that runs under an account of its own keeps its data elsewhere.
    return null;
  }
}
