import { type RecordResource, type RenderRequest } from '@lipsync/contract';
import { type ReceiverBehavior } from '../target/receiver';
import { observeRender, type RenderPurpose, type TrackedRender } from './tracked-render';

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

export interface ReplayMismatch {
  readonly idempotencyKey: string;
  readonly expectedId: string;
  readonly gotId: string;
}

export interface Ledger {
  /** A create whose response contained a render. */
  accepted(create: SentCreate, record: RecordResource, sentAt: number, answeredAt: number): TrackedRender;
  /** A create whose response was lost: a replay will show whether there is a render. */
  unanswered(create: SentCreate): void;
  /** A repeated create, and the render in its response. */
  replayed(create: SentCreate, expectedId: string, record: RecordResource, wasMarked: boolean): void;
  /** A response with a render. A render that the harness did not create is ignored. */
  observed(record: RecordResource, sentAt: number, answeredAt: number): void;
  renders(): Iterable<TrackedRender>;
  find(id: string): TrackedRender | undefined;
  readonly size: number;
  readonly open: number;
  readonly replays: number;
  readonly unmarkedReplays: number;
  readonly mismatches: readonly ReplayMismatch[];
  readonly unansweredCreates: readonly SentCreate[];
}

/** Every render that the harness has created, from its acceptance to its end. */
export function createLedger(onAccepted: (render: TrackedRender) => void): Ledger {
  const renders = new Map<string, TrackedRender>();
  const mismatches: ReplayMismatch[] = [];
  const unanswered: SentCreate[] = [];
  let open = 0;
  let replays = 0;
  let unmarkedReplays = 0;

  function observe(tracked: TrackedRender, record: RecordResource, sentAt: number, answeredAt: number): void {
    const wasOpen = tracked.end === null;
    observeRender(tracked, record, sentAt, answeredAt);
    if (wasOpen && tracked.end !== null) open--;
  }

  return {
    accepted(create, record, sentAt, answeredAt) {
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
    unanswered: (create) => void unanswered.push(create),
    replayed(create, expectedId, record, wasMarked) {
      replays++;
      if (!wasMarked) unmarkedReplays++;
      if (record.id !== expectedId)
        mismatches.push({ idempotencyKey: create.idempotencyKey, expectedId, gotId: record.id });
    },
    observed(record, sentAt, answeredAt) {
      const tracked = renders.get(record.id);
      if (tracked !== undefined) observe(tracked, record, sentAt, answeredAt);
    },
    renders: () => renders.values(),
    find: (id) => renders.get(id),
    get size() {
      return renders.size;
    },
    get open() {
      return open;
    },
    get replays() {
      return replays;
    },
    get unmarkedReplays() {
      return unmarkedReplays;
    },
    mismatches,
    unansweredCreates: unanswered,
  };
}
