import { type Engine, ENGINES } from '@lipsync/contract';

/** Where a job waits: ingests in `media`, analyses in `preparation`, renders in the queue of their engine. */
export type QueueName = 'media' | 'preparation' | Engine;

export const QUEUE_NAMES: readonly QueueName[] = ['media', 'preparation', ...ENGINES];

export type JobKind = 'ingest' | 'analyze' | 'render';

const JOB_KINDS: readonly string[] = ['ingest', 'analyze', 'render'] satisfies JobKind[];

/** Checks what a row says; the table's constraints make anything else impossible. */
export function jobKind(value: string): JobKind {
  if (!isJobKind(value)) throw new Error(`not a kind of job: ${value}`);
  return value;
}

export function queueName(value: string): QueueName {
  const name = QUEUE_NAMES.find((candidate) => candidate === value);
  if (name === undefined) throw new Error(`not a queue: ${value}`);
  return name;
}

function isJobKind(value: string): value is JobKind {
  return JOB_KINDS.includes(value);
}
