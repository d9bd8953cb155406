import { type Engine, ENGINES } from '@lipsync/contract';
import { parseEnum } from '@lipsync/domain';
import { type Db, type Tx } from '../postgres/db';

/** The queue of a job: `media` for ingests, `preparation` for analyses, the queue of its engine for renders. */
export type QueueName = 'media' | 'preparation' | Engine;

export const QUEUE_NAMES: readonly QueueName[] = ['media', 'preparation', ...ENGINES];

export type JobKind = 'ingest' | 'analyze' | 'render';

const JOB_KINDS: readonly JobKind[] = ['ingest', 'analyze', 'render'];

export function jobKind(value: string): JobKind {
  return parseEnum(JOB_KINDS, value, 'a kind of job');
}

export function queueName(value: string): QueueName {
  return parseEnum(QUEUE_NAMES, value, 'a queue');
}

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
  const { kind } = subject;
  const queue = queueOf(subject);
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
