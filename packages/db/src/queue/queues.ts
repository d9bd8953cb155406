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
type NewJobSubject =
  | { kind: 'ingest'; assetId: string }
  | { kind: 'analyze'; preparationId: string }
  | { kind: 'render'; engineRunId: string; engine: Engine };

export interface NewJob {
  subject: NewJobSubject;
  /** `queued` if its inputs are ready, otherwise `blocked` until they are. */
  status: 'blocked' | 'queued';
}

/** Inserts jobs of a customer, in one statement. Returns the queues of those that can start, each once. */
export async function insertJobs(
  db: Db,
  tx: Tx,
  customerId: string,
  jobs: readonly NewJob[],
  now: Date,
): Promise<QueueName[]> {
  await tx.job.createMany({
    data: jobs.map(({ subject, status }) => ({
      id: db.newId('job'),
      kind: subject.kind,
      queue: queueOf(subject),
      customerId,
      status,
      availableAt: now,
      createdAt: now,
      assetId: subject.kind === 'ingest' ? subject.assetId : null,
      preparationId: subject.kind === 'analyze' ? subject.preparationId : null,
      engineRunId: subject.kind === 'render' ? subject.engineRunId : null,
    })),
  });
  const startable = jobs.filter(({ status }) => status === 'queued');
  return [...new Set(startable.map(({ subject }) => queueOf(subject)))];
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
