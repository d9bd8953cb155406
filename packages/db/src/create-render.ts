import { type Engine, type RenderRequest } from '@lipsync/contract';
import { type AssetRow, type PreparationRow } from '@lipsync/domain';
import { requireRecordSlot } from './customer-lock';
import { databaseNow, secondsAfter } from './database-clock';
import { transaction, type Db, type Tx } from './db';
import { type IdempotencyClaim, reserveKey } from './idempotency';
import { inputAsset, referInput } from './media-input';
import { insertJob } from './new-job';
import { referPreparation } from './preparation-match';
import { type QueueName } from './queue-names';
import { renderDetails, type RenderDetails } from './renders';
import { requireEngines } from './workers';

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

interface References {
  video: AssetRow | null;
  audio: AssetRow | null;
  preparation: PreparationRow | null;
}

interface Frame {
  id: string;
  now: Date;
  expiresAt: Date;
}

/**
 * Creates a render with its implicit assets, engine runs and jobs, all or nothing. Throws, in this order:
 * idempotency_key_reused, idempotency_in_progress; what referring to video, audio and preparation can throw;
 * engine_unavailable; concurrency_limit_exceeded. Only success binds the idempotency key.
 */
export function createRender(db: Db, input: NewRender): Promise<CreatedRender> {
  const { customerId, request, idempotency } = input;
  return transaction(db, async (tx) => {
    const now = await databaseNow(tx);
    const frame = { id: db.newId('ren'), now, expiresAt: secondsAfter(now, input.ttlSeconds) };
    if (idempotency) {
      const { id: resourceId, expiresAt } = frame;
      const operation = 'create_render';
      const bound = await reserveKey(tx, { ...idempotency, customerId, operation, resourceId, expiresAt });
      if (bound !== null) return replay(tx, bound);
    }
    const references = await refer(tx, customerId, request);
    await requireEngines(tx, request.engines, input.enginesOnDemand);
    await requireRecordSlot(tx, customerId);
    return insert(db, tx, input, frame, references);
  });
}

async function replay(tx: Tx, renderId: string): Promise<CreatedRender> {
  const render = await tx.render.findUniqueOrThrow({ where: { id: renderId } });
  return { ...(await renderDetails(tx, render)), replayed: true, queues: [] };
}

async function refer(tx: Tx, customerId: string, request: RenderRequest): Promise<References> {
  const video = await referInput(tx, request.video, { customerId, mediaType: 'video' });
  const audio = await referInput(tx, request.audio, { customerId, mediaType: 'audio' });
  const preparationId = request.preparation_id;
  const preparation =
    preparationId === undefined ? null : await referPreparation(tx, { customerId, preparationId, video });
  return { video, audio, preparation };
}

async function insert(
  db: Db,
  tx: Tx,
  { customerId, request, ttlSeconds, traceParent }: NewRender,
  { id, now, expiresAt }: Frame,
  references: References,
): Promise<CreatedRender> {
  const asset = { customerId, ttlSeconds, traceParent, now };
  const referred = { video: references.video, audio: references.audio };
  const video = await inputAsset(db, tx, request.video, {
    ...asset,
    mediaType: 'video',
    referred: referred.video,
  });
  const audio = await inputAsset(db, tx, request.audio, {
    ...asset,
    mediaType: 'audio',
    referred: referred.audio,
  });
  const render = await tx.render.create({
    data: {
      id,
      customerId,
      status: 'accepted',
      stage: 'queued',
      videoAssetId: video.id,
      audioAssetId: audio.id,
      syncMode: request.sync_mode,
      preparationId: references.preparation?.id ?? null,
      webhookUrl: request.webhook_url ?? null,
      traceParent: traceParent ?? null,
      createdAt: now,
      updatedAt: now,
      expiresAt,
    },
  });
  const isReady = video.status === 'ready' && audio.status === 'ready';
  const queues = new Set<QueueName>(referred.video && referred.audio ? [] : ['media']);
  const runs = [];
  for (const [position, engine] of request.engines.entries()) {
    const run = { id: db.newId('run'), renderId: id, customerId, engine, position };
    const times = { createdAt: now, updatedAt: now };
    runs.push(await tx.engineRun.create({ data: { ...run, status: 'accepted', stage: 'queued', ...times } }));
    const subject = { kind: 'render', engineRunId: run.id, engine } as const;
    const queue = await insertJob(db, tx, {
      customerId,
      subject,
      status: isReady ? 'queued' : 'blocked',
      now,
    });
    if (isReady) queues.add(queue);
  }
  const { preparation } = references;
  return { render, runs, preparation, webhookEventId: null, replayed: false, queues: [...queues] };
}
