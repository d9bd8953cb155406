import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { processStat, type Stack } from '@lipsync/local-stack';
import { type Client } from 'pg';

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

/**
 * Processor seconds used by a process and its descendants, including those that have ended and were waited for. 0 on
 * systems without /proc.
 */
function treeCpuSeconds(root: number): number {
  const stats = new Map(allPids().map((pid) => [pid, processStat(pid)]));
  const childrenOf = (pid: number): number[] =>
    [...stats].flatMap(([child, stat]) => (stat?.parent === pid ? [child] : []));
  const ofTree = (pid: number): number => {
    const { own = 0, endedChildren = 0 } = stats.get(pid)?.cpu ?? {};
    return childrenOf(pid).reduce((sum, child) => sum + ofTree(child), own + endedChildren);
  };
  return ofTree(root);
}

function allPids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** The fields of a Redis server's INFO reply. Uses a plain socket: one command needs no client library. */
async function redisInfo(url: string): Promise<ReadonlyMap<string, string>> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port || 6379), hostname);
  socket.setTimeout(5_000, () => socket.destroy(new Error('Redis does not answer INFO')));
  // It closes the connection after the last answer.
  socket.write('INFO\r\nQUIT\r\n');
  const answer = await text(socket);
  if (!answer.startsWith('$')) throw new Error(`Redis refuses INFO: ${answer.split('\r\n')[0]}`);
  return new Map(
    answer
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
