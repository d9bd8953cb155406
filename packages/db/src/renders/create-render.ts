import { type ErrorCode } from '@lipsync/contract';
import { DEFAULT_CUSTOMER_LIMITS, ServiceError } from '@lipsync/domain';
import { DatabaseError } from 'pg';
import { LOCK_TIMEOUT } from '../customers/customer-transaction';
import { type Db } from '../postgres/db';
import { LOCK_NOT_AVAILABLE, sqlState } from '../postgres/sql-state';
import { run } from '../postgres/statement';
import { type QueueName } from '../queue/queues';
import { OFFER_SECONDS } from '../queue/workers';
import { refusedRender } from './refused-render';
import { draftRender, type NewRender, renderArgument, type RenderDraft, storedDraft } from './render-draft';
import { findRenders, type RenderDetails } from './renders';

export interface CreatedRender extends RenderDetails {
  /** Whether an earlier request with this key created it. */
  replayed: boolean;
  /** Queues with new jobs that can start, and whose workers should be notified. */
  queues: QueueName[];
}

/** The SQL function of the migration `create_render`. It returns its results in the order of its arguments. */
const CREATE_RENDERS = {
  name: 'create_renders',
  text: `
    SELECT refusal, bound_to AS "boundTo", at, is_ready AS "isReady" FROM create_renders($1, $2, $3, $4)`,
};

interface Outcome {
  refusal: ErrorCode | null;
  boundTo: string | null;
  at: Date;
  /** Whether its inputs are ready, so that its jobs can start. */
  isReady: boolean;
}

/** Short, because a lock that one render needs delays the whole batch. */
const BATCH_LOCK_TIMEOUT = '250ms';

/**
 * Creates renders with their implicit assets, engine runs and jobs, in one round trip and one transaction. Each render
 * succeeds or fails by itself, in the order of the requests. If one of them has to wait (for instance for the first
 * request with its key), the batch is abandoned and each is created separately after this resolves, few at once; if its
 * turn does not come in time, it fails with service_unavailable. Only success binds the idempotency key.
 * Each promise rejects with a ServiceError, checked in this order: idempotency_key_reused, idempotency_in_progress;
 * what referring to video, audio and preparation throws; engine_unavailable; concurrency_limit_exceeded.
 */
export async function createRenders(db: Db, inputs: readonly NewRender[]): Promise<Promise<CreatedRender>[]> {
  const drafts = inputs.map((input) => draftRender(db, input));
  let outcomes: Outcome[] = [];
  try {
    outcomes = await submit(db, drafts, BATCH_LOCK_TIMEOUT);
  } catch (error) {
    if (!wasRolledBack(error)) throw error;
  }
  return drafts.map((draft, index) => {
    const outcome = outcomes[index];
    return outcome === undefined
      ? db.runExclusive(draft.input.customerId, () => createAlone(db, draft))
      : createdFrom(db, draft, outcome);
  });
}

async function createAlone(db: Db, draft: RenderDraft): Promise<CreatedRender> {
  const [outcome] = await submit(db, [draft], LOCK_TIMEOUT).catch((error: unknown) => {
    throw waitedForKey(error) ? new ServiceError('idempotency_in_progress') : error;
  });
  if (outcome === undefined) throw new Error('create_renders returned nothing');
  return createdFrom(db, draft, outcome);
}

/**
 * Returns the outcomes in the order of the drafts. Sorts by customer, so that processes lock customers in the same
 * order.
 */
async function submit(db: Db, drafts: readonly RenderDraft[], lockTimeout: string): Promise<Outcome[]> {
  const sorted = drafts.map((draft, index) => ({ index, render: renderArgument(draft) }));
  sorted.sort((a, b) => compare(a.render.customer_id, b.render.customer_id));
  const rows = await run<Outcome>(db, CREATE_RENDERS, [
    JSON.stringify(sorted.map(({ render }) => render)),
    lockTimeout,
    OFFER_SECONDS,
    DEFAULT_CUSTOMER_LIMITS.activeRecordsMax,
  ]);
  const outcomes: Outcome[] = [];
  for (const [place, { index }] of sorted.entries()) {
    const outcome = rows[place];
    if (outcome !== undefined) outcomes[index] = outcome;
  }
  return outcomes;
}

/** Compares by code units. The sort is stable, so the requests of one customer keep their order. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

async function createdFrom(
  db: Db,
  draft: RenderDraft,
  { refusal, boundTo, at, isReady }: Outcome,
): Promise<CreatedRender> {
  const { customerId, request } = draft.input;
  if (refusal) throw await refusedRender(db, draft, refusal);
  if (boundTo !== null) return { ...(await stored(db, customerId, boundTo)), replayed: true, queues: [] };
  const queues = new Set<QueueName>('url' in request.video || 'url' in request.audio ? ['media'] : []);
  if (isReady) for (const engine of request.engines) queues.add(engine);
  const isComplete = request.preparation_id === undefined;
  const details = isComplete ? storedDraft(draft, at) : await stored(db, customerId, draft.id);
  return { ...details, replayed: false, queues: [...queues] };
}

async function stored(db: Db, customerId: string, renderId: string): Promise<RenderDetails> {
  const [found] = await findRenders(db, [{ customerId, renderId }]);
  if (!found) throw new ServiceError('render_not_found');
  return found.details;
}

/**
 * A value that Postgres refuses, a lock timeout or a deadlock: the whole statement was rolled back because of one
 * render of the batch. After any other failure it is unknown whether it was committed.
 */
function wasRolledBack(error: unknown): boolean {
  return /^(2[23]...|55P03|40P01)$/.test(sqlState(error) ?? '');
}

/** Whether the wait for the first request with the key timed out. */
function waitedForKey(error: unknown): boolean {
  const isTimeout = error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE;
  return isTimeout && (error.where?.includes('reserve_idempotency_key') ?? false);
}
