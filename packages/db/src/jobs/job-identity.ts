import { type JobKind, jobKind, type QueueName, queueName } from '../dispatch/queue-names';
import { type JobSubject } from './job';
import { type Lease } from './lease';

/** Identifies one attempt at a job, its customer, and the resource that it serves. */
export interface JobIdentity extends Lease {
  kind: JobKind;
  queue: QueueName;
  customerId: string;
  /** From 1, at most MAX_ATTEMPTS. */
  attempt: number;
  assetId: string | null;
  preparationId: string | null;
  engineRunId: string | null;
  /** The render of the engine run, by the id that the customer knows. */
  renderId: string | null;
}

/** An attempt that its worker abandoned: it was silent for longer than its lease. */
export interface RecoveredJob extends JobIdentity {
  /** The worker that had claimed it; the job's row no longer says so. */
  workerId: string | null;
  /** What happened to the job. `claimed`: another worker claimed it before it was requeued. */
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

/** Describes an abandoned job as it was before the recovery. */
export function recoveredJob(subject: JobSubject, outcome: RecoveredJob['outcome']): RecoveredJob {
  return { ...jobIdentity(subject), workerId: subject.job.workerId, outcome };
}
