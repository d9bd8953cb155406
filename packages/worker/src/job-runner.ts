import { type Claim, claimJob, type Db, type JobStage } from '@lipsync/db';
import { type LogFields, type Logger } from '@lipsync/runtime';
import { type Span, type Telemetry } from '@lipsync/telemetry';
import { type HeldClaim, holdClaim, type JobLimit } from './hold-claim';
import { jobFields } from './job-fields';
import { type JobFolders } from './job-folders';
import { createJobMetrics } from './job-metrics';
import { type JobOutcome } from './job-outcome';
import { startJobSpan } from './job-span';
import { LeaseLost } from './lease-keeper';
import { settle } from './settle';
import { tellRecovered } from './tell-recovered';
import { type Blame, type Verdict, verdictOf } from './verdict';

/** A claimed job, as its work sees it. */
export interface ClaimedJob {
  readonly claim: Claim;
  /** An empty folder that is removed when the job ends. */
  readonly folder: string;
  /** Aborted when the job must stop: lease lost, time limit, shutdown. */
  readonly signal: AbortSignal;
  readonly report: (stage: JobStage, percent: number) => void;
  /** The job's span, under which its stages are recorded. */
  readonly span: Span;
}

/** The result of work that completed its job in the database. */
export interface JobResult {
  /** False if the claim was lost, so that the result is void. */
  readonly accepted: boolean;
  /** Fields for the job's log line. */
  readonly facts: LogFields;
}

export interface EndedJob {
  readonly claim: Claim;
  readonly outcome: JobOutcome;
}

export interface JobRunner {
  /**
   * Claims the job, runs `work` and records the outcome in the database. Resolves to null if the job cannot be claimed,
   * and never rejects because the job failed. `preempted` hands a running job back.
   */
  run(
    jobId: string,
    preempted: AbortSignal,
    work: (job: ClaimedJob) => Promise<JobResult>,
  ): Promise<EndedJob | null>;
  /** Called on a hint that this job was cancelled. Checks with the database at once. */
  checkCancelled(jobId: string): void;
}

export interface JobRunnerOptions {
  readonly db: Db;
  readonly folders: JobFolders;
  readonly workerId: string;
  /** Classifies the errors of work that was not stopped. */
  readonly blame: (error: unknown) => Blame;
  readonly limit?: JobLimit;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
}

const LEASE_SECONDS = 15;

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { db, folders, workerId, blame, limit, logger, telemetry } = options;
  const metrics = createJobMetrics(telemetry.metrics);
  const running = new Map<Claim, HeldClaim>();

  async function runClaimed(
    claim: Claim,
    preempted: AbortSignal,
    work: (job: ClaimedJob) => Promise<JobResult>,
  ): Promise<EndedJob> {
    const started = performance.now();
    metrics.began(claim);
    const span = startJobSpan(telemetry.tracing, claim);
    const held = holdClaim({ db, claim, leaseSeconds: LEASE_SECONDS, limit, preempted });
    const { signal, report } = held;
    running.set(claim, held);
    let verdict: Verdict | undefined;
    let outcome: JobOutcome;
    let facts: LogFields;
    try {
      const result = await folders.using(claim.jobId, (folder) =>
        work({ claim, folder, signal, report, span }),
      );
      outcome = result.accepted ? 'completed' : 'lost';
      facts = result.facts;
    } catch (error) {
      verdict = verdictOf(error, signal.reason, blame);
      outcome = 'unrecorded';
      // Work that was stopped fails with an arbitrary error. The log must say why it was stopped.
      facts = { error: signal.reason instanceof LeaseLost ? signal.reason : error };
    } finally {
      running.delete(claim);
      await held.letGo();
    }
    if (verdict) outcome = await record(claim, verdict);
    const durationMs = performance.now() - started;
    const code = verdict && 'code' in verdict ? verdict.code : undefined;
    metrics.ended(claim, outcome, durationMs / 1000);
    span.set({ 'lipsync.outcome': outcome });
    span.end(code);
    logger.wide('job', {
      ...jobFields(claim),
      outcome,
      code,
      queue_wait_seconds: claim.waitedSeconds,
      duration_ms: Math.round(durationMs),
      trace_id: span.traceId,
      ...facts,
    });
    return { claim, outcome };
  }

  async function record(claim: Claim, verdict: Verdict): Promise<JobOutcome> {
    try {
      return await settle(db, claim, verdict);
    } catch (error) {
      logger.error('the end of a job could not be recorded', { job_id: claim.jobId, error });
      return 'unrecorded';
    }
  }

  return {
    run: async (jobId, preempted, work) => {
      const claim = await claimJob(db, jobId, { workerId, leaseSeconds: LEASE_SECONDS });
      if (claim === null) return null;
      if (claim.takenFrom !== null) tellRecovered(logger, claim.takenFrom);
      return runClaimed(claim, preempted, work);
    },
    checkCancelled: (jobId) => {
      for (const [claim, held] of running) if (claim.jobId === jobId) held.checkNow();
    },
  };
}
