import { type Engine, type ErrorCode, type Input, type RenderRequest } from '@lipsync/contract';
import { DEFAULT_CUSTOMER_LIMITS, isId, ServiceError } from '@lipsync/domain';
import { secondsAfter } from './database-clock';
import { type Db } from './db';
import { type IdempotencyClaim, storableKey } from './idempotency';
import { type QueueName } from './queue-names';
import { type RenderDetails, requireRender } from './renders';
import { run } from './statement';
import { OFFER_SECONDS } from './workers';

export interface NewRender {
  customerId: string;
  /** Checked against the contract and the URL policies. */
  request: RenderRequest;
  /** Null when the request carries no key. */
  idempotency: IdempotencyClaim | null;
  /** Lifetime of the record and its implicit assets, RECORD_TTL_SECONDS. */
  ttlSeconds: number;
  /** Engines that are accepted while no worker serves them: the work that waits starts one. */
  enginesOnDemand?: readonly Engine[];
  /** W3C trace context of the request; jobs and webhooks of the render join its trace. */
  traceParent?: string | undefined;
}

export interface CreatedRender extends RenderDetails {
  /** An earlier request with this key created it. */
  replayed: boolean;
  /** Queues that got jobs which can start: worth ringing. */
  queues: QueueName[];
}

/** The function of the migration `create_render`; what it is given has the names that it knows. */
const CREATE_RENDER = {
  name: 'create_render',
  text: `SELECT refusal, bound_to AS "boundTo", at, is_ready AS "isReady" FROM create_render($1)`,
};

interface Outcome {
  refusal: ErrorCode | null;
  boundTo: string | null;
  at: Date;
  /** Its inputs are there: its jobs can start. */
  isReady: boolean;
}

/**
 * Creates a render with its implicit assets, engine runs and jobs, all or nothing, in one round trip. Throws, in this
 * order: idempotency_key_reused, idempotency_in_progress; what referring to video, audio and preparation can throw;
 * engine_unavailable; concurrency_limit_exceeded. Only success binds the idempotency key.
 */
export async function createRender(db: Db, input: NewRender): Promise<CreatedRender> {
  const { customerId, request, idempotency } = input;
  const id = db.newId('ren');
  const video = inputSource(db, request.video);
  const audio = inputSource(db, request.audio);
  const runs = request.engines.map((engine) => ({ engine, id: db.newId('run'), jobId: db.newId('job') }));
  const given = {
    ...{ id, customer_id: customerId, ttl_seconds: input.ttlSeconds },
    idempotency_key: idempotency && storableKey(idempotency.key),
    fingerprint: idempotency?.fingerprint,
    ...{ video_id: video.id, video_url: video.url, video_job_id: video.jobId },
    ...{ audio_id: audio.id, audio_url: audio.url, audio_job_id: audio.jobId },
    preparation_id: request.preparation_id && idOrUnknown('prp', request.preparation_id),
    ...{ sync_mode: request.sync_mode, webhook_url: request.webhook_url, trace_parent: input.traceParent },
    engines: request.engines,
    run_ids: runs.map((each) => each.id),
    job_ids: runs.map(({ jobId }) => jobId),
    needed_engines: request.engines.filter((engine) => !input.enginesOnDemand?.includes(engine)),
    ...{ offer_seconds: OFFER_SECONDS, default_active_max: DEFAULT_CUSTOMER_LIMITS.activeRecordsMax },
  };
  const [outcome] = await run<Outcome>(db, CREATE_RENDER, [given]);
  if (outcome === undefined) throw new Error('create_render returned nothing');
  if (outcome.refusal) throw new ServiceError(outcome.refusal);
  if (outcome.boundTo !== null) {
    return { ...(await requireRender(db, customerId, outcome.boundTo)), replayed: true, queues: [] };
  }
  const queues = new Set<QueueName>(video.url === undefined && audio.url === undefined ? [] : ['media']);
  if (outcome.isReady) for (const engine of request.engines) queues.add(engine);
  const { at } = outcome;
  const preparation =
    request.preparation_id === undefined ? null : (await requireRender(db, customerId, id)).preparation;
  const begun = { status: 'accepted', stage: 'queued', progressPercent: 0, errorCode: null };
  return {
    render: {
      ...{ id, customerId, ...begun },
      ...{ videoAssetId: video.id, audioAssetId: audio.id, syncMode: request.sync_mode },
      preparationId: request.preparation_id ?? null,
      webhookUrl: request.webhook_url ?? null,
      ...{ createdAt: at, updatedAt: at, completedAt: null },
      expiresAt: secondsAfter(at, input.ttlSeconds),
      purgedAt: null,
    },
    runs: runs.map(({ id: runId, engine }, position) => ({
      ...{ id: runId, engine, position, ...begun, outputKey: null, usage: {} },
    })),
    preparation,
    webhookEventId: null,
    replayed: false,
    queues: [...queues],
  };
}

/** Where an input comes from: an asset that exists, or one that is made now and fetched from a URL. */
function inputSource(db: Db, input: Input): { id: string; url?: string; jobId?: string } {
  if ('asset_id' in input) return { id: idOrUnknown('ast', input.asset_id) };
  return { id: db.newId('ast'), url: input.url, jobId: db.newId('job') };
}

/** A malformed id may hold what Postgres does not take; it is unknown like any other that does not exist. */
function idOrUnknown(prefix: 'ast' | 'prp', id: string): string {
  return isId(prefix, id) ? id : '';
}
