import { type Engine } from '@lipsync/contract';
import { type Db, type Tx } from '../postgres/db';
import { type QueueName } from './queue-names';

/** What a new job works on. This determines its kind and queue. */
export type NewJobSubject =
  | { kind: 'ingest'; assetId: string }
  | { kind: 'analyze'; preparationId: string }
  | { kind: 'render'; engineRunId: string; engine: Engine };

/** Inserts a job: `queued` if its inputs are ready, otherwise `blocked` until they are. Returns its queue. */
export async function insertJob(
  db: Db,
  tx: Tx,
  job: { customerId: string; subject: NewJobSubject; status: 'blocked' | 'queued'; now: Date },
): Promise<QueueName> {
  const { subject, customerId, status, now } = job;
  const queue = queueOf(subject);
  const { kind } = subject;
  await tx.job.create({
    data: {
      id: db.newId('job'),
      kind,
      queue,
      customerId,
      status,
      availableAt: now,
      createdAt: now,
      assetId: kind === 'ingest' ? subject.assetId : null,
      preparationId: kind === 'analyze' ? subject.preparationId : null,
      engineRunId: kind === 'render' ? subject.engineRunId : null,
    },
  });
  return queue;
}

function queueOf(subject: NewJobSubject): QueueName {
  switch (subject.kind) {
    case 'ingest':
      return 'media';
    case 'analyze':
      return 'preparation';
    case 'render':
      return subject.engine;
  }
}
