import { type Engine, type Input, type RenderRequest } from '@lipsync/contract';
import { isId } from '@lipsync/domain';
import { type IdempotencyClaim, storableKey } from '../customers/idempotency';
import { secondsAfter } from '../postgres/database-clock';
import { type Db } from '../postgres/db';
import { type RenderDetails } from './renders';

export interface NewRender {
  customerId: string;
  /** Already checked against the contract and the URL policies. */
  request: RenderRequest;
  /** Null if the request has no key. */
  idempotency: IdempotencyClaim | null;
  /** Lifetime of the record and its implicit assets, RECORD_TTL_SECONDS. */
  ttlSeconds: number;
  /** Engines that are accepted without a worker, because waiting work starts one. */
  enginesOnDemand?: readonly Engine[];
  /** W3C trace context of the request. The jobs and webhooks of the render join this trace. */
  traceParent?: string | undefined;
}

/** A render to be created, with the ids of all its parts. */
export interface RenderDraft {
  input: NewRender;
  id: string;
  video: Source;
  audio: Source;
  /** In the order of the request. */
  runs: { engine: Engine; id: string; jobId: string }[];
}

/** Where an input comes from: an existing asset, or a new one that is fetched from a URL. */
interface Source {
  id: string;
  url?: string;
  jobId?: string;
}

export function draftRender(db: Db, input: NewRender): RenderDraft {
  const { video, audio, engines } = input.request;
  return {
    input,
    id: db.newId('ren'),
    video: sourceOf(db, video),
    audio: sourceOf(db, audio),
    runs: engines.map((engine) => ({ engine, id: db.newId('run'), jobId: db.newId('job') })),
  };
}

function sourceOf(db: Db, input: Input): Source {
  if ('asset_id' in input) return { id: idOrUnknown('ast', input.asset_id) };
  return { id: db.newId('ast'), url: input.url, jobId: db.newId('job') };
}

/** A malformed id may contain what Postgres does not accept. It is unknown like any other id that does not exist. */
function idOrUnknown(prefix: 'ast' | 'prp', id: string): string {
  return isId(prefix, id) ? id : '';
}

/** The draft with the field names of the SQL type `new_render`. */
export function renderArgument({ input, id, video, audio, runs }: RenderDraft) {
  const { customerId, request, idempotency } = input;
  return {
    id,
    customer_id: customerId,
    ttl_seconds: input.ttlSeconds,
    idempotency_key: idempotency && storableKey(idempotency.key),
    fingerprint: idempotency?.fingerprint,
    video_id: video.id,
    video_url: video.url,
    video_job_id: video.jobId,
    audio_id: audio.id,
    audio_url: audio.url,
    audio_job_id: audio.jobId,
    preparation_id: request.preparation_id && idOrUnknown('prp', request.preparation_id),
    sync_mode: request.sync_mode,
    webhook_url: request.webhook_url,
    trace_parent: input.traceParent,
    engines: request.engines,
    run_ids: runs.map((run) => run.id),
    job_ids: runs.map(({ jobId }) => jobId),
    needed_engines: request.engines.filter((engine) => !input.enginesOnDemand?.includes(engine)),
  };
}

/** The render as it was stored at that time; without the preparation, which was not read. */
export function storedDraft({ input, id, video, audio, runs }: RenderDraft, at: Date): RenderDetails {
  const { customerId, request, ttlSeconds } = input;
  const begun = { status: 'accepted', stage: 'queued', progressPercent: 0, errorCode: null };
  return {
    render: {
      id,
      customerId,
      ...begun,
      videoAssetId: video.id,
      audioAssetId: audio.id,
      syncMode: request.sync_mode,
      preparationId: request.preparation_id ?? null,
      webhookUrl: request.webhook_url ?? null,
      createdAt: at,
      updatedAt: at,
      completedAt: null,
      expiresAt: secondsAfter(at, ttlSeconds),
      purgedAt: null,
    },
    runs: runs.map((run, position) => ({
      id: run.id,
      engine: run.engine,
      position,
      ...begun,
      errorDetail: null,
      failedInput: null,
      outputKey: null,
      usage: {},
    })),
    preparation: null,
    webhookEventId: null,
  };
}
