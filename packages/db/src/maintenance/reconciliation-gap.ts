import { type Db } from '../postgres/db';

/** Only an outage or a restored backup keeps all processes from reconciling for this long. */
const GAP_SECONDS = 300;
/**
 * Precision of the recorded time of the last run. Every media-worker reconciles every second, and not each run is
 * written.
 */
const NOTED_SECONDS = 5;

/**
 * Records that reconciliation runs. Returns the seconds since it resumed after its last gap; Infinity if there was
 * none. The row is part of a backup and as old as the rest of it, so a restored database shows a gap.
 */
export async function secondsSinceGap(db: Db): Promise<number> {
  await db.prisma.$executeRaw`
    UPDATE reconciliation SET
      ran_at = now(),
      resumed_at = CASE WHEN ran_at < now() - make_interval(secs => ${GAP_SECONDS}::float8) THEN now() ELSE resumed_at END
    WHERE ran_at < now() - make_interval(secs => ${NOTED_SECONDS}::float8)`;
  // Only a later statement sees the gap that another process may just have recorded.
  const [row] = await db.prisma.$queryRaw<{ seconds: number | null }[]>`
    SELECT EXTRACT(EPOCH FROM clock_timestamp() - resumed_at)::float8 AS seconds FROM reconciliation`;
  if (row !== undefined) return row.seconds ?? Infinity;
  await db.prisma.$executeRaw`INSERT INTO reconciliation (ran_at) VALUES (now()) ON CONFLICT DO NOTHING`;
  return Infinity;
}
