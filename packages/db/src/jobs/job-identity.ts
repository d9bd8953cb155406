import { type JobSubject } from './job-subject';
import { type Lease } from './lease';
import { type JobKind, jobKind, type QueueName, queueName } from '../dispatch/queue-names';

/** Which attempt at which job, whose it is, and the resource that it serves. */
export interface JobIdentity extends Lease {
  kind: JobKind;
  queue: QueueName;
  customerId: string;
  /** From 1, at most MAX_ATTEMPTS. */
  attempt: number;
  assetId: string | null;
  preparationId: string | null;
  engineRunId: string | null;
  /** The render of the engine run: the one of its names that its customer knows. */
  renderId: string | null;
}

/** An attempt that its worker did not end: it was silent for longer than its lease. */
export interface RecoveredJob extends JobIdentity {
  /** Who had it then; the job's row forgets it. */
  workerId: string | null;
  /** What became of the job. `claimed`: another worker took it before it was queued anew. */
  outcome: 'requeued' | 'failed' | 'claimed';
}

export function jobIdentity(subject: JobSubject): JobIdentity {
  const { id, kind, queue, fence, attempts, customerId, assetId, preparationId, engineRunId } = subject.job;
  return {
    ...{ jobId: id, fence, customerId, attempt: attempts },
    kind: jobKind(kind),
    queue: queueName(queue),
    ...{ assetId, preparationId, engineRunId },
    renderId: subject.kind === 'render' ? subject.render.id : null,
  };
}

/** Tells of an abandoned job as it was before anything became of it. */
export function recoveredJob(subject: JobSubject, outcome: RecoveredJob['outcome']): RecoveredJob {
  return { ...jobIdentity(subject), workerId: subject.job.workerId, outcome };
}
