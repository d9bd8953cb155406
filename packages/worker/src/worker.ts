import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Claim,
  claimJob,
  type Db,
  failJob,
  heartbeatJob,
  type JobStage,
  releaseJob,
  retryJob,
} from '@lipsync/db';
import { postponementSeconds, retryDelaySeconds } from '@lipsync/domain';
import { type Message, openMessages, withTimeout } from '@lipsync/queue';
import { createOutageNotice, type LogFields, type Logger } from '@lipsync/runtime';
import { type Span, type Telemetry } from '@lipsync/telemetry';
import { dispositionOf, type JobDisposition } from './disposition';
import { type JobFolders } from './job-folders';
import { createJobMetrics, jobFields, type JobOutcome, logRecoveredJob, startJobSpan } from './job-report';
import { type JobLimit, keepLease, type Lease, LeaseLost, type Progress } from './lease-keeper';

/**
 * A worker takes a job from top to bottom: a message in Redis tells which job to look at, the claim in Postgres decides
 * whether it is ours, the job runs under its lease, and its end is settled in Postgres.
 */
export interface Worker {
  start(): void;
  /**
   * Takes no more jobs, waits up to `graceMs` for the running ones, then aborts them and waits for them to return. Does
   * not wait for an unavailable Redis.
   */
  close(options: { graceMs: number }): Promise<void>;
  /**
   * Milliseconds since Redis last answered (a refusal counts), was connected to or could be asked. 0 before the start,
   * without a free slot and during closing. For liveness.
   */
  silentMs(): number;
}

export interface WorkerOptions<Queue extends string = string> {
  readonly redisUrl: string;
  readonly prefix?: string;
  /** Queues to serve, in turn. */
  readonly queues: readonly Queue[];
  /** Maximum number of jobs at once over all queues. Further messages stay in Redis for workers with a free slot. */
  readonly slots: number;
  /**
   * Runs the job of a message (`JobRunner.run`), which may be stale or a duplicate, and calls `decided` as soon as it is
   * known who has the job. An error is logged; the job's row decides what happens next. `preempted` is aborted when the
   * worker closes and its grace period is over.
   */
  readonly run: (job: {
    readonly jobId: string;
    readonly queue: Queue;
    readonly preempted: AbortSignal;
    readonly decided: () => void;
  }) => Promise<void>;
  /** Called with the id of each job that is cancelled while Redis is reachable. */
  readonly onCancelled?: (jobId: string) => void;
  readonly logger: Logger;
}

/** Delay before a failed fetch is repeated. */
const FETCH_RETRY_MS = 1_000;
/** How long a closing worker waits while the last messages are removed from Redis. Otherwise their locks expire. */
const REMOVAL_MS = 1_000;

/** Survives any outage of Redis. */
export function createWorker<Queue extends string>(options: WorkerOptions<Queue>): Worker {
  const { slots, run, logger } = options;
  const stop = new AbortController();
  const graceOver = new AbortController();
  // Every job listens to it, in several places.
  setMaxListeners(0, graceOver.signal);
  const messages = openMessages(options);
  const running = new Set<Promise<void>>();
  const removals = new Set<Promise<void>>();
  const outage = createOutageNotice({
    begins: (error) => logger.warn('no messages can be taken', { error }),
    ends: () => logger.info('messages are taken again'),
  });
  /** Since when there is a free slot. */
  let freeSinceMs = performance.now();
  let taking: Promise<void> | undefined;

  /** A message is only taken with a free slot: otherwise its job would wait here while another worker is idle. */
  async function takeMessages(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        if (running.size >= slots) await Promise.race(running);
        else await takeOne();
      } catch (error) {
        if (stop.signal.aborted) return;
        outage.failed(error);
        await delay(FETCH_RETRY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      }
    }
  }

  async function takeOne(): Promise<void> {
    const message = await messages.take();
    outage.worked();
    if (message === undefined) await messages.wait();
    else if (stop.signal.aborted) await message.putBack();
    else track(running, work(message));
  }

  async function work(message: Message<Queue>): Promise<void> {
    const { jobId, queue } = message;
    let isDecided = false;
    const decided = (): void => {
      if (isDecided) return;
      isDecided = true;
      // Nobody waits for it: a message that stays is taken once more, and its job is then not ours to claim.
      const removal = message.remove().catch((error: unknown) => {
        logger.warn('message not removed', { queue, job_id: jobId, error });
      });
      track(removals, removal);
    };
    try {
      await run({ jobId, queue, preempted: graceOver.signal, decided });
    } catch (error) {
      logger.error('job handler failed', { queue, job_id: jobId, error });
    } finally {
      decided();
    }
  }

  function track(set: Set<Promise<void>>, work: Promise<void>): void {
    const tracked = work.finally(() => {
      if (running.size >= slots) freeSinceMs = performance.now();
      set.delete(tracked);
    });
    set.add(tracked);
  }

  return {
    start: () => {
      if (options.queues.length === 0) return;
      messages.start();
      taking = takeMessages();
    },
    close: async ({ graceMs }) => {
      stop.abort();
      messages.stop();
      const timer = setTimeout(() => graceOver.abort(), graceMs);
      await Promise.allSettled(running);
      await withTimeout('last messages', REMOVAL_MS, Promise.allSettled([taking, ...removals])).catch(
        (error: unknown) => logger.debug('redis was not told of the last messages', { error }),
      );
      // A job may just have been about to begin.
      await Promise.allSettled(running);
      clearTimeout(timer);
      await messages.close();
    },
    silentMs: () =>
      taking === undefined || running.size >= slots || stop.signal.aborted
        ? 0
        : Math.min(messages.silentMs(), performance.now() - freeSinceMs),
  };
}

/** Far longer than the interval of looking for messages. */
const SILENCE_MS = 60_000;

/**
 * A liveness check. Fails if Redis answers a ping but the worker has had no answer for a minute, which means that its
 * connection is wedged. While Redis is unavailable, nothing is wrong with this process.
 */
export function consumerFetches(
  worker: Pick<Worker, 'silentMs'>,
  pingRedis: () => Promise<void>,
): () => Promise<void> {
  return async () => {
    if (worker.silentMs() <= SILENCE_MS) return;
    const redisAnswers = await pingRedis().then(
      () => true,
      () => false,
    );
    if (redisAnswers) throw new Error('the consumer gets no answer although redis is there');
  };
}

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

export interface JobRunnerOptions {
  readonly db: Db;
  readonly folders: JobFolders;
  readonly workerId: string;
  /** Decides what follows from an error of work that was not stopped. */
  readonly classifyError: (error: unknown) => JobDisposition;
  readonly limit?: JobLimit;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
}

export type JobRunner = ReturnType<typeof createJobRunner>;

const LEASE_SECONDS = 15;

export function createJobRunner(options: JobRunnerOptions) {
  const { db, folders, workerId, classifyError, limit, logger, telemetry } = options;
  const metrics = createJobMetrics(telemetry.metrics);
  const running = new Map<Claim, Lease>();

  /**
   * Claims the job, runs `work` and records the outcome in the database. Resolves to null if the job cannot be claimed,
   * and never rejects because the job failed. `preempted` hands a running job back; `decided` is called when it is known
   * who has the job.
   */
  async function run(
    jobId: string,
    preempted: AbortSignal,
    work: (job: ClaimedJob) => Promise<JobResult>,
    decided?: () => void,
  ): Promise<{ readonly claim: Claim; readonly outcome: JobOutcome } | null> {
    const claimedAt = performance.now();
    const claim = await claimJob(db, jobId, { workerId, leaseSeconds: LEASE_SECONDS });
    decided?.();
    if (claim === null) return null;
    if (claim.takenFrom !== null) logRecoveredJob(logger, claim.takenFrom);
    const started = performance.now();
    metrics.began(claim);
    const span = startJobSpan(telemetry.tracing, claim);

    const attempt = await attemptUnderLease(claim, claimedAt, preempted, span, work);
    const { disposition, facts } = attempt;
    const outcome = disposition ? await settleOrLog(claim, disposition) : attempt.outcome;

    const durationMs = performance.now() - started;
    const code = disposition && 'code' in disposition ? disposition.code : undefined;
    metrics.ended(claim, outcome, durationMs / 1000, span);
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

  async function attemptUnderLease(
    claim: Claim,
    claimedAt: number,
    preempted: AbortSignal,
    span: Span,
    work: (job: ClaimedJob) => Promise<JobResult>,
  ): Promise<{ outcome: JobOutcome; disposition?: JobDisposition; facts: LogFields }> {
    const heartbeat = (progress: Progress | undefined): Promise<boolean> =>
      heartbeatJob(db, claim, {
        leaseSeconds: LEASE_SECONDS,
        ...(progress && { stage: progress.stage, progressPercent: progress.percent }),
      });
    const leaseMs = LEASE_SECONDS * 1000;
    const lease = keepLease({ heartbeat, leaseMs, claimedAt, limit, preempted });
    const { signal, report } = lease;
    running.set(claim, lease);
    try {
      const { accepted, facts } = await folders.using(claim.jobId, (folder) =>
        work({ claim, folder, signal, report, span }),
      );
      return { outcome: accepted ? 'completed' : 'lost', facts };
    } catch (error) {
      // Work that was stopped fails with an arbitrary error. The log must say why it was stopped.
      const facts = { error: signal.reason instanceof LeaseLost ? signal.reason : error };
      const disposition = dispositionOf(error, signal.reason, classifyError);
      return { outcome: 'unrecorded', disposition, facts };
    } finally {
      running.delete(claim);
      await lease.release();
    }
  }

  async function settleOrLog(claim: Claim, disposition: JobDisposition): Promise<JobOutcome> {
    try {
      return await settle(db, claim, disposition);
    } catch (error) {
      logger.error('the end of a job could not be recorded', { job_id: claim.jobId, error });
      return 'unrecorded';
    }
  }

  return {
    run,
    /** Called on a hint that this job was cancelled. Checks with the database at once. */
    checkCancelled: (jobId: string): void => {
      for (const [claim, lease] of running) if (claim.jobId === jobId) lease.checkNow();
    },
  };
}

/** Records in the database how a claimed job ended. Rejects if it cannot be recorded. */
async function settle(db: Db, claim: Claim, disposition: JobDisposition): Promise<JobOutcome> {
  switch (disposition.kind) {
    case 'drop':
      return 'dropped';
    case 'release':
      return (await releaseJob(db, claim)) ? 'released' : 'lost';
    case 'retry':
      return retryJob(db, claim, {
        errorCode: disposition.code,
        errorDetail: disposition.detail ?? null,
        delaySeconds: retryDelaySeconds(claim.attempt, Math.random()),
        refundAttempt: false,
      });
    case 'postpone':
      return retryJob(db, claim, {
        errorCode: disposition.code,
        delaySeconds: postponementSeconds(Math.random()),
        refundAttempt: true,
      });
    case 'fail':
      return (await failJob(db, claim, disposition.code, disposition.detail)) ? 'failed' : 'lost';
  }
}
