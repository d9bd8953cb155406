import { type Engine, ENGINES } from '@lipsync/contract';
import { storedWord } from '@lipsync/domain';

/** Where a job waits: ingests in `media`, analyses in `preparation`, renders in the queue of their engine. */
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
