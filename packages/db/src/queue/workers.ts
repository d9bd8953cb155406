import { type Engine, ENGINES } from '@lipsync/contract';
import { type Db, type Tx } from '../postgres/db';
import { QUEUE_NAMES, type QueueName } from './queues';

/** How many jobs a worker takes at once, by queue. */
export type Slots = Partial<Record<QueueName, number>>;

/**
 * A worker seen this recently counts as live: OFFER_SECONDS for offering an engine, CAPACITY_SECONDS for handing out
 * jobs.
 */
const OFFER_SECONDS = 60;
export const CAPACITY_SECONDS = 30;
/** A worker that was silent for this long has left and must register again. */
const LEFT_SECONDS = OFFER_SECONDS;

/** Registers a worker process, or replaces its registration. */
export async function registerWorker(
  db: Db,
  worker: { id: string; service: string; slots: Slots },
): Promise<void> {
  const slots = JSON.stringify(worker.slots);
  await db.prisma.$executeRaw`
    INSERT INTO workers (id, service, slots, started_at, seen_at)
    VALUES (${worker.id}, ${worker.service}, ${slots}::jsonb, now(), now())
    ON CONFLICT (id) DO UPDATE SET service = EXCLUDED.service, slots = EXCLUDED.slots, seen_at = now()`;
}

/** Returns false if the worker has left, or was silent for so long that it counts as gone, and must register again. */
export async function heartbeatWorker(db: Db, workerId: string): Promise<boolean> {
  const updated = await db.prisma.$executeRaw`
    UPDATE workers SET seen_at = now()
    WHERE id = ${workerId} AND seen_at > now() - make_interval(secs => ${LEFT_SECONDS}::float8)`;
  return updated === 1;
}

/**
 * Marks that the worker takes no more jobs. Its row stays for a day, back-dated. It shows that the queues were served
 * until now, so that a long backlog is not given up at the moment when one worker replaces another.
 */
export async function removeWorker(db: Db, workerId: string): Promise<void> {
  await db.prisma.$executeRaw`
    UPDATE workers SET seen_at = LEAST(seen_at, now() - make_interval(secs => ${LEFT_SECONDS}::float8))
    WHERE id = ${workerId}`;
}

/** The engines that at least one worker serves. */
export async function liveEngines(tx: Tx): Promise<Set<Engine>> {
  const live = new Set(await queuesServed(tx, OFFER_SECONDS));
  return new Set(ENGINES.filter((engine) => live.has(engine)));
}

/** The queues that at least one worker serves. */
export async function liveQueues(db: Db): Promise<Set<QueueName>> {
  return new Set(await queuesServed(db.prisma, OFFER_SECONDS));
}

/** Slots of all live workers for one queue. */
export async function liveSlots(tx: Tx, queue: QueueName): Promise<number> {
  const slots = await slotsByQueue(tx, CAPACITY_SECONDS);
  return slots.get(queue) ?? 0;
}

/**
 * The queues that a worker served at some time in the last `seconds`. This is exact for a worker that left, because its
 * row is back-dated. A worker that vanished counts for a minute longer.
 */
export async function servedQueues(tx: Tx, seconds: number): Promise<QueueName[]> {
  return queuesServed(tx, seconds + LEFT_SECONDS);
}

async function queuesServed(tx: Tx, seenSeconds: number): Promise<QueueName[]> {
  const slots = await slotsByQueue(tx, seenSeconds);
  return QUEUE_NAMES.filter((queue) => (slots.get(queue) ?? 0) > 0);
}

async function slotsByQueue(tx: Tx, seenSeconds: number): Promise<Map<string, number>> {
  const rows = await tx.$queryRaw<{ queue: string; slots: number }[]>`
    SELECT entry.key AS queue, SUM(entry.value::int)::int AS slots
    FROM workers, jsonb_each_text(workers.slots) AS entry
    WHERE seen_at > clock_timestamp() - make_interval(secs => ${seenSeconds}::float8)
    GROUP BY entry.key`;
  return new Map(rows.map(({ queue, slots }) => [queue, slots]));
}
