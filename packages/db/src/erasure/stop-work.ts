import { setTimeout as pause } from 'node:timers/promises';
import { type Failure, UPLOAD_COMPLETE_GRACE_SECONDS } from '@lipsync/domain';
import { Prisma } from '@lipsync/prisma';
import { type Act, recordAct } from '../audit/audit-log';
import { setCustomerState } from '../customers/suspension';
import { UNNAMED_SECONDS } from '../features/feature-objects';
import { cancelOpenRuns, endPreparation } from '../jobs/end-records';
import { failSubject } from '../jobs/fail';
import { finishJobs, lockSubject } from '../jobs/job';
import { databaseNow, type Db, secondsAfter, transaction } from '../postgres/db';
import { GIVE_UP } from '../webhooks/webhook-events';
import { assetsOf, type ErasureSubject, preparationsOf, rendersOf, uploadsOf } from './subject';

/** How long a worker whose job was ended may still be storing something: it notices, and its transfer is cut off. */
const LAST_TRANSFER_SECONDS = 15;
/** A worker stores features for this long after its job has ended, and is cut off then. */
const LATE_FEATURE_SECONDS = 60;
/** For how long after its end work may still store something, whatever ended it. */
export const WRITERS_SECONDS = LATE_FEATURE_SECONDS + LAST_TRANSFER_SECONDS;

interface Stopped {
  /** Milliseconds from now for which somebody may still store or send something; 0 if nobody was at work. */
  readonly writersMs: number;
  /** Jobs that ended here. Notify their workers, so that they stop at once. */
  readonly jobIds: string[];
}

/**
 * Ends what is under way for the subject, without an event and for good: keys are refused, jobs end under another fence,
 * deliveries are given up, and nothing can be created any more that belongs to it. May be repeated.
 */
export async function stopWork(db: Db, subject: ErasureSubject, act: Act): Promise<Stopped> {
  await refuse(db, subject, act);
  await awaitEarlierTransactions(db);
  const jobIds: string[] = [];
  for (;;) {
    const found = await findOpenJobs(db, subject);
    if (found.length === 0) break;
    for (const id of found) await endJob(db, id);
    jobIds.push(...found);
  }
  const times = [
    await lateWriters(db, subject),
    await giveUpDeliveries(db, subject),
    await lateFeatures(db, subject),
  ];
  const now = (await databaseNow(db.prisma)).getTime();
  return { writersMs: Math.max(0, ...times.map((time) => (time?.getTime() ?? now) - now)), jobIds };
}

/** From the commit of this on, nothing is created that belongs to the subject. */
async function refuse(db: Db, { kind, id, customerId }: ErasureSubject, act: Act): Promise<void> {
  if (kind === 'customer') {
    await setCustomerState(db, act, id, 'erasing');
    await db.prisma.$executeRaw`
      UPDATE api_keys SET revoked_at = clock_timestamp() WHERE customer_id = ${id} AND revoked_at IS NULL`;
    return;
  }
  const table = Prisma.raw(`${kind}s`);
  await transaction(db, async (tx) => {
    await tx.$executeRaw`
      UPDATE ${table} SET expires_at = LEAST(expires_at, clock_timestamp()) WHERE id = ${id}`;
    await recordAct(db, tx, act, { customerId, subjectId: id });
  });
}

/** Which of these jobs are the customer's and ended, so that a message about them is of no more use. */
export async function findEndedJobs(
  { prisma }: Db,
  customerId: string,
  jobIds: readonly string[],
): Promise<string[]> {
  const where = { id: { in: [...jobIds] }, customerId, status: 'finished' };
  return idsOf(await prisma.job.findMany({ where, select: { id: true } }));
}

const POLL_MS = 50;
/** No transaction of a service lives longer: see the limits in `postgres/db`. */
const EARLIER_MAX_MS = 45_000;

/**
 * Waits until every transaction has ended that may have looked before the subject was refused, and so may still add to it.
 * The others of this database are known by their locks alone, which every role may see.
 */
async function awaitEarlierTransactions(db: Db): Promise<void> {
  const open = async (): Promise<string[]> => {
    const rows = await db.prisma.$queryRaw<{ id: string }[]>`
      SELECT virtualtransaction AS id FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'virtualxid' AND granted AND pid <> pg_backend_pid()
        AND datname = current_database() AND usesysid IS NOT NULL`;
    return rows.map(({ id }) => id);
  };
  const endAtMs = performance.now() + EARLIER_MAX_MS;
  let earlier = await open();
  while (earlier.length > 0 && performance.now() < endAtMs) {
    await pause(POLL_MS);
    const now = new Set(await open());
    earlier = earlier.filter((id) => now.has(id));
  }
}

const PAGE = 200;

/** Jobs of records come first, so that ending an ingest ends nothing else. */
async function findOpenJobs(db: Db, subject: ErasureSubject): Promise<string[]> {
  const { prisma } = db;
  const open = { status: { not: 'finished' } };
  const page = { select: { id: true }, take: PAGE } as const;
  const { customerId } = subject;
  const ofRecords =
    subject.kind === 'customer' ? { assetId: null } : { OR: await jobsOfOpenRecords(db, subject) };
  const jobs = await prisma.job.findMany({ where: { customerId, ...ofRecords, ...open }, ...page });
  if (jobs.length > 0 || subject.kind === 'render') return idsOf(jobs);
  const ofAssets = subject.kind === 'customer' ? {} : { assetId: subject.id };
  return idsOf(await prisma.job.findMany({ where: { customerId, ...ofAssets, ...open }, ...page }));
}

async function jobsOfOpenRecords({ prisma }: Db, subject: ErasureSubject): Promise<Prisma.JobWhereInput[]> {
  const select = { id: true } as const;
  const completedAt = null;
  const renders = await prisma.render.findMany({ where: { ...rendersOf(subject), completedAt }, select });
  const runs = await prisma.engineRun.findMany({ where: { renderId: { in: idsOf(renders) } }, select });
  const where = { ...preparationsOf(subject), completedAt };
  const preparations = await prisma.preparation.findMany({ where, select });
  return [{ engineRunId: { in: idsOf(runs) } }, { preparationId: { in: idsOf(preparations) } }];
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

/** What a record says that was stopped, for as long as it is there. */
const STOPPED: Failure = { errorCode: 'asset_expired' };

/** Ends a job and its record, of which nobody is told. */
function endJob(db: Db, jobId: string): Promise<void> {
  return transaction(db, async (tx) => {
    const subject = await lockSubject(tx, jobId);
    if (subject === null) {
      await finishJobs(tx, [jobId], null);
      return;
    }
    const now = await databaseNow(tx);
    // Its worker was faster.
    if (subject.job.status === 'finished') return;
    switch (subject.kind) {
      case 'render': {
        const where = { id: subject.render.id };
        const render = await tx.render.update({ where, data: { webhookUrl: null } });
        await cancelOpenRuns(db, tx, render, now);
        break;
      }
      case 'analyze': {
        const where = { id: subject.preparation.id };
        const preparation = await tx.preparation.update({ where, data: { webhookUrl: null } });
        await endPreparation(db, tx, preparation, { status: 'failed', failure: STOPPED }, now);
        break;
      }
      case 'ingest':
        await failSubject(db, tx, subject, STOPPED, now);
    }
  });
}

/**
 * Until when workers may still store something: one may not know yet that its job was ended, here or just before, and
 * one that completed a render may still keep what it learned of the video.
 */
async function lateWriters(db: Db, subject: ErasureSubject): Promise<Date | null> {
  const { prisma } = db;
  const { kind, customerId } = subject;
  const renders = { where: rendersOf(subject), select: { id: true } } as const;
  const ofRuns =
    kind === 'customer' ? { customerId } : { renderId: { in: idsOf(await prisma.render.findMany(renders)) } };
  const latest = { _max: { updatedAt: true } } as const;
  const ends = [
    await prisma.engineRun.aggregate({ where: ofRuns, ...latest }),
    await prisma.preparation.aggregate({ where: preparationsOf(subject), ...latest }),
    await prisma.asset.aggregate({ where: { ...assetsOf(subject), status: 'failed' }, ...latest }),
  ];
  const last = Math.max(...ends.map(({ _max }) => _max.updatedAt?.getTime() ?? -Infinity));
  return last === -Infinity ? null : secondsAfter(new Date(last), WRITERS_SECONDS);
}

/** Gives up what would still be sent. Returns until when an attempt may be under way. */
async function giveUpDeliveries(db: Db, subject: ErasureSubject): Promise<Date | null> {
  const { kind, customerId } = subject;
  const select = { id: true } as const;
  const { prisma } = db;
  const records =
    kind === 'customer'
      ? null
      : [
          ...idsOf(await prisma.render.findMany({ where: rendersOf(subject), select })),
          ...idsOf(await prisma.preparation.findMany({ where: preparationsOf(subject), select })),
        ];
  const [row] = await prisma.$queryRaw<{ until: Date | null }[]>`
    WITH pending AS (
      SELECT delivery.id, delivery.lease_until FROM webhook_deliveries AS delivery
      JOIN webhook_events AS event ON event.id = event_id
      WHERE delivery.customer_id = ${customerId} AND delivery.status = 'pending'
        AND (${records}::text[] IS NULL OR COALESCE(render_id, preparation_id) = ANY(${records}::text[]))
      FOR UPDATE OF delivery
    ), given_up AS (
      UPDATE webhook_deliveries SET ${GIVE_UP} WHERE id IN (SELECT id FROM pending)
    )
    SELECT max(lease_until) AS until FROM pending`;
  return row?.until ?? null;
}

/** Objects of features are registered before they are stored. Until when one may still be on its way. */
async function lateFeatures(db: Db, { kind, customerId }: ErasureSubject): Promise<Date | null> {
  if (kind === 'render') return null;
  const [row] = await db.prisma.$queryRaw<{ registered: Date | null }[]>`
    SELECT max(kept_until) - make_interval(secs => ${UNNAMED_SECONDS}::float8) AS registered FROM feature_objects
    WHERE customer_id = ${customerId}
      AND kept_until <= clock_timestamp() + make_interval(secs => ${UNNAMED_SECONDS}::float8)`;
  return row?.registered ? secondsAfter(row.registered, WRITERS_SECONDS) : null;
}

/** Signed URLs to which the subject's owner can still send bytes. */
interface OpenUploads {
  readonly count: number;
  /** When an upload to the last one is no longer accepted, on the database's clock; null if there is none. */
  readonly until: Date | null;
}

/** Nobody can revoke a signed URL, and an upload that begins just before its end arrives later. */
export async function findOpenUploads(db: Db, subject: ErasureSubject): Promise<OpenUploads> {
  const after = secondsAfter(await databaseNow(db.prisma), -UPLOAD_COMPLETE_GRACE_SECONDS);
  const found = await db.prisma.upload.aggregate({
    where: { ...uploadsOf(subject), expiresAt: { gt: after } },
    _count: true,
    _max: { expiresAt: true },
  });
  const last = found._max.expiresAt;
  return { count: found._count, until: last && secondsAfter(last, UPLOAD_COMPLETE_GRACE_SECONDS) };
}
