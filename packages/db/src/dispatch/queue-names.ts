import { type Engine, ENGINES } from '@lipsync/contract';
import { storedWord } from '@lipsync/domain';

/** The queue of a job: `media` for ingests, `preparation` for analyses, the queue of its engine for renders. */
export type QueueName = 'media' | 'preparation' | Engine;

export const QUEUE_NAMES: readonly QueueName[] = ['media', 'preparation', ...ENGINES];

export type JobKind = 'ingest' | 'analyze' | 'render';

const JOB_KINDS: readonly JobKind[] = ['ingest', 'analyze', 'render'];

export function jobKind(value: string): JobKind {
  return storedWord(JOB_KINDS, value, 'a kind of job');
}

export function queueName(value: string): QueueName {
  return storedWord(QUEUE_NAMES, value, 'a queue');
}
