import { type ErrorCode, type MediaType } from '@lipsync/contract';
import {
  type EngineRunRow,
  type Failure,
  preparationRecord,
  type PreparationRow,
  RECORD_STATES,
  renderOutcome,
  renderRecord,
  type RenderRow,
  storedErrorCode,
} from '@lipsync/domain';
import { preparationOf } from '../inputs/preparations';
import { type Db, type Tx } from '../postgres/db';
import { insertEvent } from '../webhooks/webhook-events';
import { finishJobs } from './job';
import { advanceRenderByRuns } from './progress';

/** How a render ends. Only a failed one has a code. */
type End = { status: 'completed' | 'cancelled' } | { status: 'failed'; errorCode: ErrorCode };

/**
 * Called after a run of this locked render ended. Ends the render if that was the last open run, otherwise updates its
 * progress.
 */
export async function settleRender(db: Db, tx: Tx, render: RenderRow, now: Date): Promise<void> {
  const runs = await readRuns(tx, render);
  const end = renderOutcome(
    runs.map((run) => ({
      status: RECORD_STATES.parse(run.status),
      errorCode: run.errorCode === null ? null : storedErrorCode(run.errorCode),
    })),
  );
  if (end === null) await advanceRenderByRuns(tx, render, now);
  else await endRender(db, tx, render, end, now);
}

/** Why runs fail, and which input caused the failure, if one did. */
interface RunFailure extends Failure {
  readonly failedInput?: MediaType;
}

/** Fails every open run of a locked render, which ends the render. */
export async function failOpenRuns(
  db: Db,
  tx: Tx,
  render: RenderRow,
  failure: RunFailure,
  now: Date,
): Promise<void> {
  await closeOpenRuns(tx, render, failure, now);
  await settleRender(db, tx, render, now);
}

/** Cancels every open run of a locked render, and the render. Returns the ids of the stopped jobs. */
export async function cancelOpenRuns(db: Db, tx: Tx, render: RenderRow, now: Date): Promise<string[]> {
  const jobIds = await closeOpenRuns(tx, render, null, now);
  await endRender(db, tx, render, { status: 'cancelled' }, now);
  return jobIds;
}

/** Fails the open runs of a render, or cancels them if there is no failure. Returns the ids of their jobs. */
async function closeOpenRuns(
  tx: Tx,
  { id: renderId, customerId }: RenderRow,
  failure: RunFailure | null,
  now: Date,
): Promise<string[]> {
  const open = { renderId, customerId, status: { in: [...RECORD_STATES.open] } };
  const runIds = idsOf(await tx.engineRun.findMany({ where: open, select: { id: true } }));
  const ofRuns = { engineRunId: { in: runIds }, customerId };
  const jobIds = idsOf(await tx.job.findMany({ where: ofRuns, select: { id: true } }));
  await finishJobs(tx, jobIds, failure?.errorCode ?? null);
  const status = failure === null ? 'cancelled' : 'failed';
  await tx.engineRun.updateMany({ where: open, data: { status, stage: status, ...failure, updatedAt: now } });
  return jobIds;
}

/**
 * The only place where a render becomes terminal. Writes its state, its event and the event's delivery in the
 * transaction that holds its lock.
 */
async function endRender(db: Db, tx: Tx, render: RenderRow, end: End, now: Date): Promise<void> {
  const { id, customerId } = render;
  const ended = await tx.render.update({
    where: { id, customerId, status: { in: [...RECORD_STATES.open] } },
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
  const runs = await readRuns(tx, ended);
  const preparation = await preparationOf(tx, ended);
  await insertEvent(db, tx, {
    ended,
    now,
    renderId: id,
    preparationId: null,
    type: `render.${end.status}`,
    webhookUrl: ended.webhookUrl,
    record: (webhookEventId) =>
      renderRecord(ended, runs, preparation, { baseUrl: db.publicBaseUrl, webhookEventId }),
  });
}

/** In the render's order. */
function readRuns(tx: Tx, { id: renderId, customerId }: RenderRow): Promise<EngineRunRow[]> {
  return tx.engineRun.findMany({ where: { renderId, customerId }, orderBy: { position: 'asc' } });
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

/** The results of an analysis, as columns of the preparation. */
type AnalysisColumns = Pick<
  PreparationRow,
  'version' | 'analyzerVersion' | 'frames' | 'fps' | 'width' | 'height' | 'durationSeconds' | 'videoSha256'
>;

type PreparationEnd =
  { status: 'completed'; analysis: AnalysisColumns } | { status: 'failed'; failure: Failure };

/** The only place where a preparation becomes terminal. The caller holds its lock. Its job ends with it. */
export async function endPreparation(
  db: Db,
  tx: Tx,
  preparation: PreparationRow,
  end: PreparationEnd,
  now: Date,
): Promise<void> {
  const jobs = await tx.job.findMany({ where: { preparationId: preparation.id }, select: { id: true } });
  await finishJobs(tx, idsOf(jobs), end.status === 'failed' ? end.failure.errorCode : null);
  const ended = await tx.preparation.update({
    where: { id: preparation.id, status: { in: [...RECORD_STATES.open] } },
    data: {
      ...(end.status === 'completed' ? { ...end.analysis, progressPercent: 100 } : end.failure),
      status: end.status,
      stage: end.status,
      completedAt: now,
      updatedAt: now,
    },
  });
  if (ended.webhookUrl === null) return;
  await insertEvent(db, tx, {
    ended,
    now,
    renderId: null,
    preparationId: ended.id,
    type: `preparation.${end.status}`,
    webhookUrl: ended.webhookUrl,
    record: (webhookEventId) => preparationRecord(ended, { baseUrl: db.publicBaseUrl, webhookEventId }),
  });
}
