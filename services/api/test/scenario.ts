import { type MediaType, type PreparationRequest, type RenderRequest } from '@lipsync/contract';
import { type TestApi, type TestCustomer } from './start-api';

export const VIDEO_URL = 'https://media.example.com/face.mp4';
export const AUDIO_URL = 'https://media.example.com/voice.wav';
export const WEBHOOK_URL = 'https://hooks.example.com:8443/lipsync';

/** A valid render request with URLs. */
export function renderRequest(changes: Partial<RenderRequest> = {}): RenderRequest {
  return {
    video: { url: VIDEO_URL },
    audio: { url: AUDIO_URL },
    engines: ['musetalk'],
    sync_mode: 'cut_off',
    ...changes,
  };
}

export function preparationRequest(changes: Partial<PreparationRequest> = {}): PreparationRequest {
  return { video: { url: VIDEO_URL }, ...changes };
}

/** Brings one customer's resources into the state that a test needs, through the service's own operations. */
export interface Scenario {
  pendingAsset(mediaType?: MediaType): Promise<string>;
  readyAsset(mediaType?: MediaType, sha256?: string): Promise<string>;
  failedAsset(mediaType?: MediaType): Promise<string>;
  awaitingAsset(): Promise<string>;
  expiredAsset(mediaType?: MediaType): Promise<string>;
  /** An upload of `bytes`; the PUT is optional. */
  upload(options?: {
    bytes?: Buffer;
    put?: boolean;
  }): Promise<{ id: string; assetId: string; putBytes: () => Promise<void> }>;
  /** A render of ready assets, so its job can start. */
  render(changes?: Partial<RenderRequest>): Promise<string>;
  /** A completed render with an output. */
  completedRender(): Promise<string>;
  /** A preparation of a ready asset unless `changes` name a video. */
  preparation(changes?: Partial<PreparationRequest>): Promise<string>;
  completedPreparation(videoAssetId?: string): Promise<string>;
  /** The event of a cancelled render. */
  webhookEvent(): Promise<string>;
  /** Moves the expiry of a resource into the past. */
  expire(id: string): Promise<void>;
}

export function createScenario(api: TestApi, { key }: TestCustomer): Scenario {
  const { db, operations, worker } = api;

  async function pendingAsset(mediaType: MediaType = 'video'): Promise<string> {
    const url = mediaType === 'video' ? VIDEO_URL : AUDIO_URL;
    return (await operations.ok('create_asset', { key, json: { url, media_type: mediaType } })).body.id;
  }
  async function readyAsset(mediaType: MediaType = 'video', sha256?: string): Promise<string> {
    const id = await pendingAsset(mediaType);
    await worker.ingest(id, sha256 === undefined ? {} : { sha256 });
    return id;
  }
  async function upload(options: { bytes?: Buffer; put?: boolean } = {}): ReturnType<Scenario['upload']> {
    const bytes = options.bytes ?? Buffer.from('not really a video');
    const json = { media_type: 'video', content_type: 'video/mp4', size_bytes: bytes.length };
    const { body } = await operations.ok('create_upload', { key, json });
    const putBytes = async (): Promise<void> => {
      const { ok, status } = await fetch(body.upload_url, {
        method: 'PUT',
        headers: body.required_headers,
        body: bytes,
      });
      if (!ok) throw new Error(`the store answered ${status}`);
    };
    if (options.put ?? true) await putBytes();
    return { id: body.id, assetId: body.asset_id, putBytes };
  }
  async function render(changes: Partial<RenderRequest> = {}): Promise<string> {
    const request = {
      video: { asset_id: await readyAsset('video') },
      audio: { asset_id: await readyAsset('audio') },
      ...changes,
    };
    return (await operations.ok('create_render', { key, json: renderRequest(request) })).body.id;
  }
  async function preparation(changes: Partial<PreparationRequest> = {}): Promise<string> {
    const video = changes.video ?? { asset_id: await readyAsset('video') };
    return (await operations.ok('create_preparation', { key, json: { ...changes, video } })).body.id;
  }
  async function expire(id: string): Promise<void> {
    const change = { where: { id }, data: { expiresAt: new Date(Date.now() - 1000) } };
    const updates: Readonly<Record<string, () => Promise<unknown>>> = {
      ren: () => db.prisma.render.update(change),
      prp: () => db.prisma.preparation.update(change),
      ast: () => db.prisma.asset.update(change),
      upl: () => db.prisma.upload.update(change),
      evt: () => db.prisma.webhookEvent.update(change),
    };
    const update = updates[id.slice(0, 3)];
    if (update === undefined) throw new Error(`nothing that expires: ${id}`);
    await update();
  }

  return {
    pendingAsset,
    readyAsset,
    failedAsset: async (mediaType) => {
      const id = await pendingAsset(mediaType);
      await worker.ingest(id, { failure: 'media_corrupt' });
      return id;
    },
    awaitingAsset: async () => (await upload({ put: false })).assetId,
    expiredAsset: async (mediaType) => {
      const id = await readyAsset(mediaType);
      await expire(id);
      return id;
    },
    upload,
    render,
    completedRender: async () => {
      const id = await render();
      await worker.render(id);
      return id;
    },
    preparation,
    completedPreparation: async (videoAssetId) => {
      const id = await preparation(videoAssetId === undefined ? {} : { video: { asset_id: videoAssetId } });
      await worker.analyze(id);
      return id;
    },
    webhookEvent: async () => {
      const id = await render({ webhook_url: WEBHOOK_URL });
      const { body } = await operations.ok('cancel_render', { key, id });
      if (body.webhook_event_id === undefined) throw new Error('the cancellation made no event');
      return body.webhook_event_id;
    },
    expire,
  };
}
