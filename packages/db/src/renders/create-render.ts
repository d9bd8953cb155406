import { type Engine, type MediaType, type RenderRequest } from '@lipsync/contract';
import { type AssetRow, errorMessage, ServiceError } from '@lipsync/domain';
import {
  customerTransaction,
  type IdempotencyClaim,
  requireRecordSlot,
  reserveKey,
} from '../customers/customer-transaction';
import { ingestOf, insertUrlAsset, referInput, urlOf } from '../inputs/assets';
import { referPreparation } from '../inputs/preparations';
import { type Db, secondsAfter, type Tx } from '../postgres/db';
import { insertJobs, type NewJob, type QueueName } from '../queue/queues';
import { liveEngines } from '../queue/workers';
import { findRender, type RenderDetails } from './get-render';

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

export interface CreatedRender extends RenderDetails {
  /** Whether an earlier request with this key created it. */
  replayed: boolean;
  /** Queues with new jobs that can start, and whose workers should be notified. */
  queues: QueueName[];
}

/**
 * Creates a render with its implicit assets, engine runs and jobs, all or nothing. Only success binds the key.
 * @throws ServiceError in this order: idempotency_key_reused, idempotency_in_progress; what referring to video, audio
 * and preparation throws; engine_unavailable; concurrency_limit_exceeded
 */
export async function createRender(db: Db, input: NewRender): Promise<CreatedRender> {
  const { customerId } = input;
  const created = await customerTransaction(db, customerId, (tx, now) => insertRender(db, tx, input, now));
  if ('render' in created) return { ...created, replayed: false };
  const first = await findRender(db, customerId, created.boundTo);
  if (first === null) throw new ServiceError('render_not_found');
  return { ...first.details, replayed: true, queues: [] };
}

/** Returns what the key is bound to if an earlier request has created a render with it. */
async function insertRender(
  db: Db,
  tx: Tx,
  input: NewRender,
  now: Date,
): Promise<Omit<CreatedRender, 'replayed'> | { boundTo: string }> {
  const { customerId, request, idempotency, ttlSeconds, traceParent } = input;
  const id = db.newId('ren');
  const expiresAt = secondsAfter(now, ttlSeconds);
  const binding = { customerId, operation: 'create_render', resourceId: id, expiresAt } as const;
  const boundTo = idempotency && (await reserveKey(tx, idempotency, binding));
  if (boundTo !== null) return { boundTo };

  const refer = (mediaType: MediaType): Promise<AssetRow | null> => {
    const pointer = `/${mediaType}/asset_id`;
    return referInput(tx, { customerId, mediaType, input: request[mediaType], pointer }, now);
  };
  const referred = { video: await refer('video'), audio: await refer('audio') };
  const preparationId = request.preparation_id ?? null;
  const preparation =
    preparationId === null
      ? null
      : await referPreparation(tx, { customerId, preparationId, video: referred.video, now });
  await requireEngines(tx, input);
  await requireRecordSlot(tx, customerId);

  const fetched: AssetRow[] = [];
  const fetch = async (mediaType: MediaType): Promise<AssetRow> => {
    const source = { customerId, mediaType, url: urlOf(request[mediaType]), ttlSeconds, traceParent };
    const asset = await insertUrlAsset(db, tx, source, now);
    fetched.push(asset);
    return asset;
  };
  const video = referred.video ?? (await fetch('video'));
  const audio = referred.audio ?? (await fetch('audio'));
  const render = await tx.render.create({
    data: {
      id,
      customerId,
      status: 'accepted',
      stage: 'queued',
      videoAssetId: video.id,
      audioAssetId: audio.id,
      syncMode: request.sync_mode,
      preparationId,
      webhookUrl: request.webhook_url ?? null,
      traceParent: traceParent ?? null,
      createdAt: now,
      updatedAt: now,
      expiresAt,
    },
  });
  const engines = request.engines.map((engine) => ({ engine, engineRunId: db.newId('run') }));
  const runs = await tx.engineRun.createManyAndReturn({
    data: engines.map(({ engine, engineRunId }, position) => ({
      id: engineRunId,
      renderId: id,
      customerId,
      engine,
      position,
      status: 'accepted',
      stage: 'queued',
      createdAt: now,
      updatedAt: now,
    })),
  });
  runs.sort((a, b) => a.position - b.position);
  const status = video.status === 'ready' && audio.status === 'ready' ? 'queued' : 'blocked';
  const jobs = engines.map((run): NewJob => ({ subject: { kind: 'render', ...run }, status }));
  const queues = await insertJobs(db, tx, customerId, [...fetched.map(ingestOf), ...jobs], now);
  return { render, runs, preparation, webhookEventId: null, queues };
}

/** @throws ServiceError engine_unavailable, naming the engines that no worker serves */
async function requireEngines(tx: Tx, { request, enginesOnDemand = [] }: NewRender): Promise<void> {
  const live = await liveEngines(tx);
  const missing = request.engines.filter((name) => !live.has(name) && !enginesOnDemand.includes(name));
  if (missing.length === 0) return;
  throw new ServiceError('engine_unavailable', {
    detail: errorMessage('engine_unavailable', missing.join(', ')),
  });
}
