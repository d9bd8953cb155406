import { type JobStage } from '@lipsync/db';

/** Why a job must stop although it has not failed. */
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
 * Keeps one claimed job alive and carries its progress. It does nothing by itself: `tick` is called a few times a
 * second, `checkNow` when there is a hint that the job was cancelled.
 */
export interface LeaseKeeper {
  /** Aborted with LeaseLost once the job is not ours any more. */
  readonly signal: AbortSignal;
  /** The newest state; it travels with the next heartbeat. Percent never falls within a stage. */
  report: (stage: JobStage, percent: number) => void;
  tick: () => void;
  checkNow: () => void;
  /** No heartbeat is sent, or still under way, once this has resolved. */
  stop: () => Promise<void>;
}

const HEARTBEAT_MS = 3_000;
/** Progress is written, and a failed heartbeat repeated, at most this often; a new stage is written at once. */
const SHORTEST_GAP_MS = 1_000;

/**
 * `heartbeat` extends the lease by `leaseMs` and returns false when the job is not ours any more. While it cannot be
 * asked (it rejects), the job goes on until the lease must have run out on the database's side.
 */
export function createLeaseKeeper(options: {
  heartbeat: (progress: Progress | undefined) => Promise<boolean>;
  leaseMs: number;
  /** Never set, unlike the machine's date: a step of that neither ends a lease nor holds a heartbeat back. */
  clock: { now(): number };
}): LeaseKeeper {
  const { heartbeat, leaseMs, clock } = options;
  const lost = new AbortController();
  let progress: Progress | undefined;
  let written: Progress | undefined;
  let sentAt = clock.now();
  let renewedAt = sentAt;
  let sending: Promise<void> | undefined;
  /** Why the last heartbeat got no answer. */
  let failure: { readonly cause: unknown } | undefined;
  let stopped = false;

  const lose = (why: LeaseLost['why']): void => {
    if (!lost.signal.aborted) lost.abort(new LeaseLost(why, failure));
  };

  async function send(): Promise<void> {
    const carried = progress;
    sentAt = clock.now();
    // The lease runs from when the database got the request; counting from before the call errs on the safe side.
    const asked = sentAt;
    try {
      const ours = await heartbeat(carried);
      failure = undefined;
      if (ours) {
        renewedAt = asked;
        written = carried;
      } else lose('refused');
    } catch (cause) {
      // As a rule the database is away; the lease decides how long that may last.
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
