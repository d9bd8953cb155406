import { type Failure, preparationRecord, type PreparationRow, RECORD_STATES } from '@lipsync/domain';
import { type Db, type Tx } from '../postgres/db';
import { insertEvents } from '../webhooks/webhook-events';
import { finishJobs } from './lease';

/** The results of an analysis, as columns of the preparation. */
export type AnalysisColumns = Pick<
  PreparationRow,
  'version' | 'analyzerVersion' | 'frames' | 'fps' | 'width' | 'height' | 'durationSeconds' | 'videoSha256'
>;

type End = { status: 'completed'; analysis: AnalysisColumns } | { status: 'failed'; failure: Failure };

/** The only place where a preparation becomes terminal. The caller holds its lock. Its job ends with it. */
export async function endPreparation(
  db: Db,
  tx: Tx,
  preparation: PreparationRow,
  end: End,
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
