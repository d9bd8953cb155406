import { type RecordResource, type RecordStatus, type RenderRequest } from '@lipsync/contract';
import { RECORD_STATES } from '@lipsync/domain';
import { type ReceiverBehavior } from '../target/receiver';

/** A create as it was sent, and as a replay must send it again. */
export interface SentCreate {
  readonly customer: number;
  readonly purpose: RenderPurpose;
  readonly idempotencyKey: string;
  readonly request: RenderRequest;
  readonly announcedTo: ReceiverBehavior | null;
  readonly intendedAt: number;
  readonly isWarmUp: boolean;
}

/** Every render that the harness has created, from its acceptance to its end. */
export function createLedger(onAccepted: (render: TrackedRender) => void) {
  const renders = new Map<string, TrackedRender>();
  const unanswered: SentCreate[] = [];
  const replays = {
    count: 0,
    /** Without the header that says so. */
    unmarked: 0,
    /** Answered with another render. */
    mismatches: new Array<{ idempotencyKey: string; expectedId: string; gotId: string }>(),
  };
  let open = 0;

  function observe(tracked: TrackedRender, record: RecordResource, sentAt: number, answeredAt: number): void {
    const wasOpen = tracked.end === null;
    observeRender(tracked, record, sentAt, answeredAt);
    if (wasOpen && tracked.end !== null) open--;
  }

  return {
    /** A create whose response contained a render. */
    accepted(create: SentCreate, record: RecordResource, sentAt: number, answeredAt: number): TrackedRender {
      const known = renders.get(record.id);
      if (known !== undefined) {
        observe(known, record, sentAt, answeredAt);
        return known;
      }
      const tracked: TrackedRender = {
        id: record.id,
        customer: create.customer,
        purpose: create.purpose,
        engines: create.request.engines.length,
        acceptedAfterMs: answeredAt - create.intendedAt,
        acceptedAt: answeredAt,
        isWarmUp: create.isWarmUp,
        announcedTo: create.announcedTo,
        createdAt: Date.parse(record.created_at),
        status: 'accepted',
        progress: 0,
        seenAt: sentAt,
        started: null,
        end: null,
        flaws: [],
      };
      renders.set(record.id, tracked);
      open++;
      observe(tracked, record, sentAt, answeredAt);
      onAccepted(tracked);
      return tracked;
    },
    /** A create whose response was lost: a replay will show whether there is a render. */
    unanswered: (create: SentCreate): void => void unanswered.push(create),
    /** A repeated create, and the render in its response. */
    replayed(create: SentCreate, expectedId: string, record: RecordResource, wasMarked: boolean): void {
      replays.count++;
      if (!wasMarked) replays.unmarked++;
      if (record.id !== expectedId)
        replays.mismatches.push({ idempotencyKey: create.idempotencyKey, expectedId, gotId: record.id });
    },
    /** A response with a render. A render that the harness did not create is ignored. */
    observed: (record: RecordResource, sentAt: number, answeredAt: number): void => {
      const tracked = renders.get(record.id);
      if (tracked !== undefined) observe(tracked, record, sentAt, answeredAt);
    },
    renders: (): Iterable<TrackedRender> => renders.values(),
    find: (id: string) => renders.get(id),
    get open() {
      return open;
    },
    replays,
    unansweredCreates: unanswered as readonly SentCreate[],
  };
}

export type Ledger = ReturnType<typeof createLedger>;

/** What the harness remembers of an accepted render: enough for every check, in less than a kilobyte. */
export interface TrackedRender {
  readonly id: string;
  readonly customer: number;
  readonly purpose: RenderPurpose;
  readonly engines: number;
  /** From the caller's arrival to the response that accepted it, in milliseconds. */
  readonly acceptedAfterMs: number;
  /** On the harness's clock. */
  readonly acceptedAt: number;
  /** Created during the warm-up: checked, but not counted in any figure. */
  readonly isWarmUp: boolean;
  /** How the receiver of its event behaves; null if it has no webhook. */
  readonly announcedTo: ReceiverBehavior | null;
  /** Epoch milliseconds on the service's clock. */
  readonly createdAt: number;
  status: RecordStatus;
  progress: number;
  /** When the response with this status and progress arrived. */
  seenAt: number;
  started: RenderStart | null;
  end: RenderEnd | null;
  /** Violations that were observed. */
  flaws: RenderFlaw[];
}

/** Whether its caller wants the result, or to cancel it at once. */
export type RenderPurpose = 'result' | 'cancel';

interface RenderStart {
  /** Epoch milliseconds on the service's clock. */
  readonly at: number;
  /**
   * `record`: computed from the finished record; `poll`: from the first poll that showed work, later than the true
   * start.
   */
  readonly from: 'record' | 'poll';
}

interface RenderEnd {
  readonly status: RecordStatus;
  /** Epoch milliseconds on the service's clock; null when the record does not say. */
  readonly completedAt: number | null;
  readonly errorCode: string | null;
  readonly webhookEventId: string | null;
  readonly outputSeconds: number;
  readonly processingMs: number;
}

export interface RenderFlaw {
  readonly kind: 'terminal_changed' | 'went_backwards' | 'progress_fell';
  readonly detail: string;
}

/** The same flaw may show on every poll; one of each kind is enough to fail a check. */
const MAX_FLAWS = 5;

/**
 * Applies a response to the render. If its request was sent before an earlier response arrived, it may legitimately
 * show an older state; then only what can never change, a terminal state, is checked.
 */
function observeRender(
  tracked: TrackedRender,
  record: RecordResource,
  sentAt: number,
  answeredAt: number,
): void {
  const before = tracked.status;
  const isTerminal = RECORD_STATES.isTerminal(record.status);
  const flaw = (kind: RenderFlaw['kind'], detail: string): void => {
    if (tracked.flaws.length < MAX_FLAWS) tracked.flaws.push({ kind, detail });
  };
  if (tracked.end !== null && isTerminal && record.status !== tracked.end.status)
    flaw('terminal_changed', `${tracked.end.status} became ${record.status}`);
  if (sentAt < tracked.seenAt) return;

  if (tracked.end !== null) {
    if (!isTerminal) flaw('terminal_changed', `${tracked.end.status} became ${record.status}`);
    else if (tracked.end.completedAt !== epoch(record.completed_at))
      flaw('terminal_changed', `${record.status} was completed a second time`);
    return;
  }
  // Between two polls a render may pass through a state unseen.
  const skipsAhead = before === 'accepted' && record.status === 'completed';
  if (record.status !== before && !RECORD_STATES.canMove(before, record.status) && !skipsAhead)
    flaw('went_backwards', `${before} became ${record.status}`);
  if (record.progress_percent < tracked.progress)
    flaw('progress_fell', `${tracked.progress} % became ${record.progress_percent} %`);
  tracked.status = record.status;
  tracked.progress = Math.max(tracked.progress, record.progress_percent);
  tracked.seenAt = answeredAt;
  tracked.started ??= startSeen(record);
  if (isTerminal) {
    tracked.end = endOf(record);
    tracked.started = startOf(tracked, record) ?? tracked.started;
  }
}

function startSeen(record: RecordResource): RenderStart | null {
  const isStarted =
    record.engines?.some(({ status }) => status === 'processing' || status === 'completed') ?? false;
  return isStarted && !RECORD_STATES.isTerminal(record.status)
    ? { at: Date.parse(record.updated_at), from: 'poll' }
    : null;
}

/**
 * A finished engine reports how long it worked since a worker claimed it. With one engine the record ends with it,
 * which gives its start; with several, this would give only the start of the one that ended last.
 */
function startOf(tracked: TrackedRender, record: RecordResource): RenderStart | null {
  const completedAt = epoch(record.completed_at);
  const processingMs = record.engines?.[0]?.usage.processing_ms;
  if (tracked.engines !== 1 || completedAt === null || processingMs === undefined) return null;
  return { at: Math.max(tracked.createdAt, completedAt - processingMs), from: 'record' };
}

function endOf(record: RecordResource): RenderEnd {
  const engines = record.engines ?? [];
  const sum = (of: (usage: (typeof engines)[number]['usage']) => number | undefined): number =>
    engines.reduce((total, { usage }) => total + (of(usage) ?? 0), 0);
  return {
    status: record.status,
    completedAt: epoch(record.completed_at),
    errorCode: record.error?.code ?? null,
    webhookEventId: record.webhook_event_id ?? null,
    outputSeconds: sum((usage) => usage.output_seconds),
    processingMs: sum((usage) => usage.processing_ms),
  };
}

function epoch(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}
