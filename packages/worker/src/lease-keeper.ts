import { type ErrorCode } from '@lipsync/contract';
import { type JobStage } from '@lipsync/db';

/** A job must stop because its claim was lost, although it has not failed. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  constructor(
    readonly why: 'refused' | 'expired',
    options?: ErrorOptions,
  ) {
    super(
      why === 'refused' ? 'the job was cancelled, finished or taken over' : 'the lease ran out unrenewed',
      options,
    );
  }
}

export interface Progress {
  readonly stage: JobStage;
  readonly percent: number;
}

/**
 * Keeps the lease of one claimed job alive and publishes its progress. It has no timer of its own: the caller calls
 * `tick` a few times a second, and `checkNow` on a hint that the job was cancelled.
 */
export interface LeaseKeeper {
  /** Aborted with LeaseLost once the claim is lost. */
  readonly signal: AbortSignal;
  /** Sets the latest progress, which goes out with the next heartbeat. The percentage never falls within a stage. */
  report: (stage: JobStage, percent: number) => void;
  tick: () => void;
  checkNow: () => void;
  /** Once this has resolved, no heartbeat is sent or under way. */
  stop: () => Promise<void>;
}

const HEARTBEAT_MS = 3_000;
/** Minimum interval for writing progress and for repeating a failed heartbeat. A new stage is written at once. */
const SHORTEST_GAP_MS = 1_000;

/**
 * `heartbeat` extends the lease by `leaseMs` and returns false if the claim is lost. While it rejects, the job goes on
 * until the lease must have run out on the database's side.
 */
export function createLeaseKeeper(options: {
  heartbeat: (progress: Progress | undefined) => Promise<boolean>;
  leaseMs: number;
  /** When the claim was asked for, by the clock. */
  claimedAt: number;
  /** A monotonic clock, so that a step of the machine's date neither ends a lease nor delays a heartbeat. */
  clock: { now(): number };
}): LeaseKeeper {
  const { heartbeat, leaseMs, claimedAt, clock } = options;
  const lost = new AbortController();
  let progress: Progress | undefined;
  let written: Progress | undefined;
  let sentAt = claimedAt;
  // The lease runs from when the database received the request. Counting from before the call errs on the safe side.
  let renewedAt = claimedAt;
  let sending: Promise<void> | undefined;
  /** Why the last heartbeat failed. */
  let failure: { readonly cause: unknown } | undefined;
  let stopped = false;

  const lose = (why: LeaseLost['why']): void => {
    if (!lost.signal.aborted) lost.abort(new LeaseLost(why, failure));
  };

  async function send(): Promise<void> {
    const carried = progress;
    sentAt = clock.now();
    const asked = sentAt;
    try {
      const ours = await heartbeat(carried);
      failure = undefined;
      if (ours) {
        renewedAt = asked;
        written = carried;
      } else lose('refused');
    } catch (cause) {
      // Usually the database is unavailable. The lease decides how long that may last.
      failure = { cause };
    }
  }

  function begin(): void {
    if (stopped || sending || lost.signal.aborted) return;
    sending = send().finally(() => (sending = undefined));
  }

  return {
    signal: lost.signal,
    report: (stage, percent) => {
      const before = progress && progress.stage === stage ? progress.percent : 0;
      progress = { stage, percent: Math.max(percent, before) };
    },
    tick: () => {
      const now = clock.now();
      if (now - renewedAt >= leaseMs) lose('expired');
      const sinceSent = now - sentAt;
      const pressing = failure !== undefined || progress !== written;
      const newStage = progress?.stage !== written?.stage && failure === undefined;
      if (newStage || sinceSent >= (pressing ? SHORTEST_GAP_MS : HEARTBEAT_MS)) begin();
    },
    checkNow: begin,
    stop: async () => {
      stopped = true;
      await sending;
    },
  };
}

/** This process is shutting down and the job did not end within the grace period. */
export class Preempted extends Error {
  override readonly name = 'Preempted';
}

/** The wall-clock limit of the job has passed. */
export class JobTimeout extends Error {
  override readonly name = 'JobTimeout';

  constructor(readonly code: ErrorCode) {
    super('the time limit of the job has passed');
  }
}

/** How long a job may take, and the code it fails with if it takes longer. */
export interface JobLimit {
  readonly ms: number;
  readonly code: ErrorCode;
}

/** The lease of a claimed job, kept while the job is worked on. */
export interface Lease {
  /** Aborted when the work must stop, with LeaseLost, Preempted or JobTimeout. */
  readonly signal: AbortSignal;
  readonly report: LeaseKeeper['report'];
  /** Checks with the database at once whether the claim still holds. */
  checkNow(): void;
  /** Stops the heartbeats. Once this has resolved, none is under way and the signal does not change any more. */
  release(): Promise<void>;
}

const TICK_MS = 250;

export function keepLease(options: {
  heartbeat: (progress: Progress | undefined) => Promise<boolean>;
  leaseMs: number;
  /** When the claim was asked for, by `performance`. */
  claimedAt: number;
  limit: JobLimit | undefined;
  preempted: AbortSignal;
}): Lease {
  const { heartbeat, leaseMs, claimedAt, limit, preempted } = options;
  const keeper = createLeaseKeeper({ heartbeat, leaseMs, claimedAt, clock: performance });
  const stop = new AbortController();
  keeper.signal.addEventListener('abort', () => stop.abort(keeper.signal.reason), { once: true });
  const preempt = (): void => stop.abort(new Preempted('the process is going away'));
  if (preempted.aborted) preempt();
  else preempted.addEventListener('abort', preempt, { once: true });
  const ticker = setInterval(keeper.tick, TICK_MS);
  const timer = limit && setTimeout(() => stop.abort(new JobTimeout(limit.code)), limit.ms);

  return {
    signal: stop.signal,
    report: keeper.report,
    checkNow: keeper.checkNow,
    release: async () => {
      clearTimeout(timer);
      clearInterval(ticker);
      preempted.removeEventListener('abort', preempt);
      await keeper.stop();
    },
  };
}
