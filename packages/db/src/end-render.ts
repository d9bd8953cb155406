import { type ErrorCode, isErrorCode, type MediaType } from '@lipsync/contract';
import { RECORD_STATES, renderOutcome, renderRecord, type RenderRow } from '@lipsync/domain';
import { type Db, type Tx } from './db';
import { finishJobs } from './lease';
import { advanceRenderByRuns } from './run-progress';
import { insertEvent } from './webhook-events';

/** How a render ends. Only a failed one has a code. */
type End = { status: 'completed' | 'cancelled' } | { status: 'failed'; errorCode: ErrorCode };

/** After a run of this locked render ended: ends the render when it was the last one, else moves it forward. */
export async function settleRender(db: Db, tx: Tx, render: RenderRow, now: Date): Promise<void> {
  const runs = await tx.engineRun.findMany({ where: { renderId: render.id } });
  const outcome = renderOutcome(
    runs.map((run) => ({
      status: RECORD_STATES.parse(run.status),
      errorCode: run.errorCode !== null && isErrorCode(run.errorCode) ? run.errorCode : null,
    })),
  );
  if (outcome === null) return advanceRenderByRuns(tx, render, now);
  await endRender(db, tx, render, outcome, now);
}

/** Why runs fail, and for which input of theirs if it was one. */
interface Failure {
  errorCode: ErrorCode;
  failedInput?: MediaType;
}

/** Fails every run of a locked render that is still open, and thereby ends the render. */
export async function failOpenRuns(
  db: Db,
  tx: Tx,
  render: RenderRow,
  failure: Failure,
  now: Date,
): Promise<void> {
  await closeOpenRuns(tx, render, { status: 'failed', ...failure }, now);
  await settleRender(db, tx, render, now);
}

/** Cancels every run of a locked render that is still open, and the render. Returns the jobs that this stopped. */
export async function cancelOpenRuns(db: Db, tx: Tx, render: RenderRow, now: Date): Promise<string[]> {
  const jobIds = await closeOpenRuns(tx, render, { status: 'cancelled' }, now);
  await endRender(db, tx, render, { status: 'cancelled' }, now);
  return jobIds;
}

async function closeOpenRuns(
  tx: Tx,
  render: RenderRow,
  end: { status: 'cancelled' } | ({ status: 'failed' } & Failure),
  now: Date,
): Promise<string[]> {
  const open = await tx.engineRun.findMany({
    where: { renderId: render.id, status: { in: [...RECORD_STATES.open] } },
  });
  const runIds = open.map((run) => run.id);
  const jobs = await tx.job.findMany({ where: { engineRunId: { in: runIds } }, select: { id: true } });
  const jobIds = jobs.map((job) => job.id);
  const failure: Failure | null = end.status === 'failed' ? end : null;
  const errorCode = failure?.errorCode ?? null;
  await finishJobs(tx, jobIds, errorCode);
  await tx.engineRun.updateMany({
    where: { id: { in: runIds } },
    data: {
      status: end.status,
      stage: end.status,
      errorCode,
      failedInput: failure?.failedInput ?? null,
      updatedAt: now,
    },
  });
  return jobIds;
}

/**
 * The one place where a render becomes terminal: its state, its event and the event's delivery in the transaction that
 * holds its lock.
 */
async function endRender(db: Db, tx: Tx, render: RenderRow, end: End, now: Date): Promise<void> {
  const ended = await tx.render.update({
    where: { id: render.id, status: { in: [...RECORD_STATES.open] } },
    data: {
      status: end.status,
      stage: end.status,
      errorCode: end.status === 'failed' ? end.errorCode : null,
      ...(end.status === 'completed' ? { progressPercent: 100 } : {}),
      completedAt: now,
      updatedAt: now,
    },
  });
  if (ended.webhookUrl === null) return;
  const runs = await tx.engineRun.findMany({ where: { renderId: ended.id }, orderBy: { position: 'asc' } });
  const { preparationId } = ended;
  const preparation =
    preparationId === null ? null : await tx.preparation.findUnique({ where: { id: preparationId } });
  await insertEvent(db, tx, {
    ended,
    now,
    renderId: ended.id,
    preparationId: null,
    type: `render.${end.status}`,
    webhookUrl: ended.webhookUrl,
    record: (webhookEventId) =>
      renderRecord(ended, runs, preparation, { baseUrl: db.publicBaseUrl, webhookEventId }),
  });
}
