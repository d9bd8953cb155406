import { Prisma, type RunUsage } from '@lipsync/prisma';
import { type Db, type Tx } from '../postgres/db';

/** Which ended runs: all unless told otherwise. */
export interface UsageSearch {
  customerId?: string | undefined;
  /** The first moment of a month in UTC, for the runs that ended in it. */
  month?: Date | undefined;
}

/** What the runs of one customer by one engine used in one month. Sums of nothing are null. */
export interface UsageTotal {
  /** In UTC, as `2026-10`. */
  month: string;
  /** Null for customers that were erased, together. */
  customerId: string | null;
  customerName: string | null;
  engine: string;
  completed: number;
  failed: number;
  cancelled: number;
  /** This and all that follows counts completed runs only. */
  inputVideoSeconds: number | null;
  inputAudioSeconds: number | null;
  outputSeconds: number | null;
  frames: number | null;
  gpuSeconds: number | null;
  costUsd: number | null;
  /** The number of runs whose cost is known. */
  runsWithCost: number;
}

/** Totals of usage by month, customer and engine, in this order. With a month it reads an index of that month alone. */
export function sumUsage(db: Db, search: UsageSearch = {}): Promise<UsageTotal[]> {
  return db.prisma.$queryRaw<UsageTotal[]>(totalsOf(search));
}

/** The statement of `sumUsage`. */
export function totalsOf({ customerId, month }: UsageSearch): Prisma.Sql {
  const conditions = [
    ...(customerId === undefined ? [] : [Prisma.sql`customer_id = ${customerId}`]),
    ...(month === undefined
      ? []
      : [Prisma.sql`finished_at >= ${month} AND finished_at < ${nextMonth(month)}`]),
  ];
  const where =
    conditions.length === 0 ? Prisma.empty : Prisma.sql`WHERE ${Prisma.join(conditions, ' AND ')}`;
  return Prisma.sql`
    SELECT to_char(total.month, 'YYYY-MM') AS month, total.customer_id AS "customerId",
      customers.name AS "customerName", engine, completed, failed, cancelled,
      input_video_seconds AS "inputVideoSeconds", input_audio_seconds AS "inputAudioSeconds",
      output_seconds AS "outputSeconds", frames, gpu_seconds AS "gpuSeconds", cost_usd AS "costUsd",
      runs_with_cost AS "runsWithCost"
    FROM (
      SELECT date_trunc('month', finished_at AT TIME ZONE 'UTC') AS month, customer_id, engine,
        count(*) FILTER (WHERE outcome = 'completed')::int AS completed,
        count(*) FILTER (WHERE outcome = 'failed')::int AS failed,
        count(*) FILTER (WHERE outcome = 'cancelled')::int AS cancelled,
        sum(input_video_seconds) AS input_video_seconds, sum(input_audio_seconds) AS input_audio_seconds,
        sum(output_seconds) AS output_seconds, sum(frames)::float8 AS frames, sum(gpu_seconds) AS gpu_seconds,
        sum(cost_usd) AS cost_usd, count(cost_usd)::int AS runs_with_cost
      FROM run_usage ${where} GROUP BY 1, 2, 3
    ) AS total LEFT JOIN customers ON customers.id = total.customer_id
    ORDER BY total.month, total.customer_id, engine`;
}

/** The runs themselves, in the order in which they ended. */
export function listUsage(db: Db, { customerId, month }: UsageSearch & { month: Date }): Promise<RunUsage[]> {
  return db.prisma.runUsage.findMany({
    where: {
      finishedAt: { gte: month, lt: nextMonth(month) },
      ...(customerId === undefined ? {} : { customerId }),
    },
    orderBy: [{ finishedAt: 'asc' }, { id: 'asc' }],
  });
}

function nextMonth(month: Date): Date {
  return new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1));
}

/**
 * Makes usage of a customer anonymous, at most `limit` rows: their figures stay, for the totals of a month, and nothing
 * tells whose they were. Only the admin's role may do it. Repeat it until it returns less than the limit, when no run of
 * the customer is open any more: each adds its usage when it ends.
 */
export function anonymizeUsage(tx: Tx, customerId: string, limit: number): Promise<number> {
  return tx.$executeRaw`
    UPDATE run_usage SET customer_id = NULL, render_id = NULL WHERE id = ANY(ARRAY(
      SELECT id FROM run_usage WHERE customer_id = ${customerId} LIMIT ${limit}::int))`;
}

/** Deletes usage of runs that ended more than so many months ago, oldest first. Returns how many rows. */
export function deleteOldUsage(db: Db, months: number, limit: number): Promise<number> {
  return db.prisma.$executeRaw`
    DELETE FROM run_usage WHERE id IN (
      SELECT id FROM run_usage WHERE finished_at < now() - make_interval(months => ${months}::int)
      ORDER BY finished_at LIMIT ${limit}::int
    )`;
}
