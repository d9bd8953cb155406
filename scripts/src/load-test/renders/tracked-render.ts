import { type RecordResource, type RecordStatus } from '@lipsync/contract';
import { RECORD_STATES } from '@lipsync/domain';
import { type ReceiverBehaviour } from '../webhooks/behaviour';

/** What the harness remembers of a render that was accepted: enough for every check, less than a kilobyte. */
export interface TrackedRender {
  readonly id: string;
  readonly customer: number;
  readonly purpose: RenderPurpose;
  readonly engines: number;
  /** From the caller's arrival to the answer that accepted it, in milliseconds. */
  readonly acceptedAfterMs: number;
  /** On the harness's clock. */
  readonly acceptedAt: number;
  /** Created in the warm-up: checked, but in no figure. */
  readonly isWarmUp: boolean;
  /** How the receiver of its event behaves; null when it announces itself to nobody. */
  readonly announcedTo: ReceiverBehaviour | null;
  /** Epoch milliseconds of the service. */
  readonly createdAt: number;
  status: RecordStatus;
  progress: number;
  /** When the answer that status and progress are from had arrived. */
  seenAt: number;
  started: RenderStart | null;
  end: RenderEnd | null;
  /** What was seen that must not be. */
  flaws: RenderFlaw[];
}

/** What its caller wants of it: the result, or to cancel it at once. */
export type RenderPurpose = 'result' | 'cancel';

export interface RenderStart {
  /** Epoch milliseconds of the service. */
  readonly at: number;
  /** `record`: worked out from the finished record; `poll`: the update that a poll saw first, later than the truth. */
  readonly from: 'record' | 'poll';
}

export interface RenderEnd {
  readonly status: RecordStatus;
  /** Epoch milliseconds of the service; null when the record does not say. */
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

/** A caller can see a flaw on every poll; one of each kind is enough to fail a check. */
const MAX_FLAWS = 5;

/**
 * Takes in what an answer says of the render. An answer whose request was sent before an earlier answer arrived may
 * rightly show an older state; it is held to what cannot change at all, a terminal state, alone.
 */
export function observeRender(
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
    else if (!sameEnd(tracked.end, record)) flaw('terminal_changed', `${record.status} was completed anew`);
    return;
  }
  if (
    record.status !== before &&
    !RECORD_STATES.canMove(before, record.status) &&
    !skipsAhead(before, record)
  )
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

/** Between two polls a render may pass through a state unseen. */
function skipsAhead(before: RecordStatus, record: RecordResource): boolean {
  return before === 'accepted' && record.status === 'completed';
}

function sameEnd(end: RenderEnd, record: RecordResource): boolean {
  return end.completedAt === epoch(record.completed_at);
}

function startSeen(record: RecordResource): RenderStart | null {
  const isStarted =
    record.engines?.some(({ status }) => status === 'processing' || status === 'completed') ?? false;
  return isStarted && !RECORD_STATES.isTerminal(record.status)
    ? { at: Date.parse(record.updated_at), from: 'poll' }
    : null;
}

/**
 * A finished engine says how long it worked, from the moment a worker claimed it. With one engine the record ends with
 * it, so its start follows; with several, only the one that ended last would.
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
