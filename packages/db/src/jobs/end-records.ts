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
import { readNamedPreparations } from '../inputs/preparations';
import { ownedLike } from '../postgres/customer-scope';
import { type Db, type Tx } from '../postgres/db';
import { insertEvents } from '../webhooks/webhook-events';
import { finishJobs } from './job';
import { advanceRenderByRuns } from './progress';

/** How a render ends. Only a failed one has a code. */
type End = { status: 'completed' | 'cancelled' } | { status: 'failed'; errorCode: ErrorCode };

/**
 * Called after a run of this locked render ended. Ends the render if that was the last open run, otherwise updates its
 * progress.
 */
export function settleRender(db: Db, tx: Tx, render: RenderRow, now: Date): Promise<void> {
  return settleRenders(db, tx, [render], now);
}

/** Why runs fail, and which input caused the failure, if one did. */
interface RunFailure extends Failure {
  readonly failedInput?: MediaType;
}

/** Fails every open run of these locked renders, which ends the renders. */
export async function failOpenRuns(
  db: Db,
  tx: Tx,
  renders: readonly RenderRow[],
  failure: RunFailure,
  now: Date,
): Promise<void> {
  await closeOpenRuns(tx, renders, failure, now);
  await settleRenders(db, tx, renders, now);
}

/** Cancels every open run of a locked render, and the render. Returns the ids of the stopped jobs. */
export async function cancelOpenRuns(db: Db, tx: Tx, render: RenderRow, now: Date): Promise<string[]> {
  const jobIds = await closeOpenRuns(tx, [render], null, now);
  await endRenders(db, tx, [render], { status: 'cancelled' }, now);
  return jobIds;
}

/** Fails the open runs of these renders, or cancels them if there is no failure. Returns the ids of their jobs. */
async function closeOpenRuns(
  tx: Tx,
  renders: readonly RenderRow[],
  failure: RunFailure | null,
  now: Date,
): Promise<string[]> {
  const owned = ownedLike(renders);
  const open = await tx.engineRun.findMany({
    where: { renderId: { in: idsOf(renders) }, ...owned, status: { in: [...RECORD_STATES.open] } },
  });
  const runIds = idsOf(open);
  const jobIds = idsOf(
    await tx.job.findMany({ where: { engineRunId: { in: runIds }, ...owned }, select: { id: true } }),
  );
  await finishJobs(tx, jobIds, failure?.errorCode ?? null);
  const status = failure === null ? 'cancelled' : 'failed';
  await tx.engineRun.updateMany({
    where: { id: { in: runIds }, ...owned },
    data: { status, stage: status, ...failure, updatedAt: now },
  });
  return jobIds;
}

async function settleRenders(db: Db, tx: Tx, renders: readonly RenderRow[], now: Date): Promise<void> {
  const runsOf = await readRuns(tx, renders);
  const ending = new Map<string, { end: End; renders: RenderRow[] }>();
  for (const render of renders) {
    const end = renderOutcome(
      runsOf(render).map((run) => ({
        status: RECORD_STATES.parse(run.status),
        errorCode: run.errorCode === null ? null : storedErrorCode(run.errorCode),
      })),
    );
    if (end === null) {
      await advanceRenderByRuns(tx, render, now);
      continue;
    }
    const key = end.status === 'failed' ? end.errorCode : end.status;
    const alike = ending.get(key);
    if (alike === undefined) ending.set(key, { end, renders: [render] });
    else alike.renders.push(render);
  }
  for (const alike of ending.values()) await endRenders(db, tx, alike.renders, alike.end, now);
}

/**
 * The only place where renders become terminal. Writes their state, their events and the events' deliveries in the
 * transaction that holds their locks.
 */
async function endRenders(db: Db, tx: Tx, renders: readonly RenderRow[], end: End, now: Date): Promise<void> {
  const ended = await tx.render.updateManyAndReturn({
    where: { id: { in: idsOf(renders) }, ...ownedLike(renders), status: { in: [...RECORD_STATES.open] } },
    data: {
      status: end.status,
      stage: end.status,
      errorCode: end.status === 'failed' ? end.errorCode : null,
      ...(end.status === 'completed' ? { progressPercent: 100 } : {}),
      completedAt: now,
      updatedAt: now,
    },
  });
  if (ended.length !== renders.length) throw new Error('a render was ended that had ended before');
  const announced = ended.flatMap((render) =>
    render.webhookUrl === null ? [] : { render, webhookUrl: render.webhookUrl },
  );
  if (announced.length === 0) return;
  const runsOf = await readRuns(tx, ended);
  const preparationOf = await readNamedPreparations(tx, ended);
  await insertEvents(
    db,
    tx,
    announced.map(({ render, webhookUrl }) => ({
      ended: render,
      now,
      renderId: render.id,
      preparationId: null,
      type: `render.${end.status}` as const,
      webhookUrl,
      record: (webhookEventId) =>
        renderRecord(render, runsOf(render), preparationOf(render), {
          baseUrl: db.publicBaseUrl,
          webhookEventId,
        }),
    })),
  );
}

/** The runs of each of these renders, in the render's order. */
async function readRuns(
  tx: Tx,
  renders: readonly RenderRow[],
): Promise<(render: RenderRow) => EngineRunRow[]> {
  const runs = await tx.engineRun.findMany({
    where: { renderId: { in: idsOf(renders) }, ...ownedLike(renders) },
    orderBy: { position: 'asc' },
  });
  const byRender = new Map<string, EngineRunRow[]>(renders.map(({ id }) => [id, []]));
  for (const run of runs) byRender.get(run.renderId)?.push(run);
  return ({ id }) => byRender.get(id) ?? [];
}

export function idsOf(rows: readonly { readonly id: string }[]): string[] {
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
  await finishJobs(
    tx,
    jobs.map((job) => job.id),
    end.status === 'failed' ? end.failure.errorCode : null,
  );
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
  await insertEvents(db, tx, [
    {
      ended,
      now,
      renderId: null,
      preparationId: ended.id,
      type: `preparation.${end.status}`,
      webhookUrl: ended.webhookUrl,
      record: (webhookEventId) => preparationRecord(ended, { baseUrl: db.publicBaseUrl, webhookEventId }),
    },
  ]);
}
