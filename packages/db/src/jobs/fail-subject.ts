import { type Failure } from '@lipsync/domain';
import { type Db, type Tx } from '../postgres/db';
import { endPreparation } from './end-preparation';
import { settleRender } from './end-records';
import { type JobSubject } from './job';
import { finishJobs } from './lease';
import { failWaiting } from './waiting-records';

/** Fails the subject of a locked job. */
export async function failSubject(
  db: Db,
  tx: Tx,
  subject: JobSubject,
  failure: Failure,
  now: Date,
): Promise<void> {
  const failed = { status: 'failed', stage: 'failed', ...failure, updatedAt: now };
  await finishJobs(tx, [subject.job.id], failure.errorCode);
  switch (subject.kind) {
    case 'ingest':
      await tx.asset.update({ where: { id: subject.asset.id }, data: failed });
      return failWaiting(db, tx, subject.asset.id, failure, now);
    case 'analyze':
      return endPreparation(db, tx, subject.preparation, { status: 'failed', failure }, now);
    case 'render':
      await tx.engineRun.update({ where: { id: subject.run.id }, data: failed });
      return settleRender(db, tx, subject.render, now);
  }
}
