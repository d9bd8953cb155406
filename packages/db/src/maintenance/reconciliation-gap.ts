import { type Db } from '../postgres/db';

/** Nothing but an outage or a restored backup keeps every process from reconciling for this long. */
const GAP_SECONDS = 300;
/** How exactly the last run is known. It runs every second in every media-worker: not each of them is written down. */
const NOTED_SECONDS = 5;

/**
 * Notes that reconciliation runs. Seconds since it went on after its last gap; Infinity if there was none. The row comes
 * back with a backup, as old as the rest of it, so a restored database has had a gap.
 */
export async function secondsSinceGap(db: Db): Promise<number> {
  await db.prisma.$executeRaw`
    UPDATE reconciliation SET
      ran_at = now(),
      resumed_at = CASE WHEN ran_at < now() - make_interval(secs => ${GAP_SECONDS}::float8) THEN now() ELSE resumed_at END
    WHERE ran_at < now() - make_interval(secs => ${NOTED_SECONDS}::float8)`;
  // Only a later statement sees the gap that another process may just have noted.
  const [row] = await db.prisma.$queryRaw<{ seconds: number | null }[]>`
    SELECT EXTRACT(EPOCH FROM clock_timestamp() - resumed_at)::float8 AS seconds FROM reconciliation`;
  if (row !== undefined) return row.seconds ?? Infinity;
  await db.prisma.$executeRaw`INSERT INTO reconciliation (ran_at) VALUES (now()) ON CONFLICT DO NOTHING`;
  return Infinity;
}
