import { blobSink, download, type DownloadOptions, openSink, renderPath } from './download';
import { AssetFailed, PreparationFailed, RenderCancelled, RenderFailed } from './errors';
import { asContractInput, type MediaInput, type UploadSource } from './media';
import { type Platform } from './platform';
import {
  type Asset,
  type AssetInput,
  type AssetRequest,
  type Delivery,
  type Engine,
  type MediaType,
  type PreparationRecord,
  type PreparationRequest,
  type RenderRecord,
  type RenderRequest,
  type Upload,
  type UploadRequest,
  type UrlInput,
} from './resources';
import { type CallOptions, type LipSyncOptions, Transport } from './transport';
import { upload, type UploadOptions } from './upload';
import { wait, type WaitOptions, watch, type WatchOptions } from './watch';
import { verifyWebhook } from './webhooks';

/** A render request whose media may still have to be uploaded. */
export interface RenderParams extends Omit<RenderRequest, 'video' | 'audio' | 'engines'> {
  video: MediaInput;
  audio: MediaInput;
  engines: readonly Engine[];
}

/** A preparation request whose video may still have to be uploaded. */
export interface PreparationParams extends Omit<PreparationRequest, 'video'> {
  video: MediaInput;
}

export interface CreateOptions extends CallOptions {
  /** Called while media is uploaded. */
  onUpload?: ((mediaType: MediaType, sentBytes: number, totalBytes: number) => void) | undefined;
}

const isEnded = ({ status }: { status: string }) => ['completed', 'failed', 'cancelled'].includes(status);
const isVerified = ({ status }: Asset) => status === 'ready' || status === 'failed';
const idOf = (resource: string | { id: string }) => (typeof resource === 'string' ? resource : resource.id);
const preparationPath = (id: string) => `/v1/preparations/${encodeURIComponent(id)}`;
const assetPath = (id: string) => `/v1/assets/${encodeURIComponent(id)}`;

/** The operations of the service, on whatever platform. */
export class Client {
  readonly #transport: Transport;
  readonly #platform: Platform;

  constructor(options: LipSyncOptions, platform: Platform) {
    this.#platform = platform;
    this.#transport = new Transport(options, platform.environment);
  }

  readonly renders = {
    /** Uploads media that is not there yet, and creates the render. Repeated requests create one render. */
    create: async (
      { video, audio, ...rest }: RenderParams,
      options: CreateOptions = {},
    ): Promise<RenderRecord> => {
      const inputs = await this.#inputs({ video, audio }, options);
      return this.#create('/v1/renders', { ...rest, ...inputs }, options);
    },

    get: async (id: string, options: CallOptions = {}): Promise<RenderRecord> =>
      (await this.#transport.get<RenderRecord>(renderPath(id), options)).body,

    /** Cancels an unfinished render; cancelling it again changes nothing. */
    cancel: async (id: string, options: CallOptions = {}): Promise<RenderRecord> =>
      (await this.#transport.post<RenderRecord>(`${renderPath(id)}/cancel`, options)).body,

    /** The first state, every changed one, and the last. */
    watch: (render: string | RenderRecord, options: WatchOptions = {}) =>
      watch<RenderRecord>(renderPath(idOf(render)), isEnded, options, this.#transport),

    /**
     * Resolves to the completed render, of which some engines may have failed.
     * @throws RenderFailed, RenderCancelled
     */
    wait: async (
      render: string | RenderRecord,
      { onChange, ...options }: WaitOptions<RenderRecord> = {},
    ): Promise<RenderRecord> => {
      const record = await wait(this.renders.watch(render, options), onChange);
      if (record.status === 'failed') throw new RenderFailed(record);
      if (record.status === 'cancelled') throw new RenderCancelled(record);
      return record;
    },
  };

  readonly preparations = {
    /** Uploads the video if it is not there yet, and creates its analysis. Repeated requests create one. */
    create: async (
      { video, ...rest }: PreparationParams,
      options: CreateOptions = {},
    ): Promise<PreparationRecord> => {
      const inputs = await this.#inputs({ video }, options);
      return this.#create('/v1/preparations', { ...rest, ...inputs }, options);
    },

    get: async (id: string, options: CallOptions = {}): Promise<PreparationRecord> =>
      (await this.#transport.get<PreparationRecord>(preparationPath(id), options)).body,

    /** The first state, every changed one, and the last. */
    watch: (preparation: string | PreparationRecord, options: WatchOptions = {}) =>
      watch<PreparationRecord>(preparationPath(idOf(preparation)), isEnded, options, this.#transport),

    /**
     * Resolves to the completed preparation.
     * @throws PreparationFailed
     */
    wait: async (
      preparation: string | PreparationRecord,
      { onChange, ...options }: WaitOptions<PreparationRecord> = {},
    ): Promise<PreparationRecord> => {
      const record = await wait(this.preparations.watch(preparation, options), onChange);
      if (record.status !== 'completed') throw new PreparationFailed(record);
      return record;
    },
  };

  readonly uploads = {
    /** Uploads media; the asset can be used at once, its checks continue in the background. */
    create: (source: UploadSource, options: UploadOptions): Promise<Asset> =>
      upload(source, options, { transport: this.#transport, platform: this.#platform }),

    /** The first step alone, for a backend that lets somebody else send the bytes to the signed URL. */
    begin: async (request: UploadRequest, options: CallOptions = {}): Promise<Upload> =>
      (await this.#transport.post<Upload>('/v1/uploads', { ...options, body: request })).body,

    /** The last step alone: the bytes are there. */
    complete: async (id: string, options: CallOptions = {}): Promise<Asset> =>
      (await this.#transport.post<Asset>(`/v1/uploads/${encodeURIComponent(id)}/complete`, options)).body,
  };

  readonly assets = {
    /** Lets the service download media. Not repeated when the answer is lost: every call makes another asset. */
    create: async (request: AssetRequest, options: CallOptions = {}): Promise<Asset> =>
      (await this.#transport.post<Asset>('/v1/assets', { ...options, body: request, repeat: 'refused' }))
        .body,

    get: async (id: string, options: CallOptions = {}): Promise<Asset> =>
      (await this.#transport.get<Asset>(assetPath(id), options)).body,

    /** The first state, every changed one, and the last. */
    watch: (asset: string | Asset, options: WatchOptions = {}) =>
      watch<Asset>(assetPath(idOf(asset)), isVerified, options, this.#transport),

    /**
     * Resolves to the asset when its media is ready.
     * @throws AssetFailed
     */
    wait: async (
      asset: string | Asset,
      { onChange, ...options }: WaitOptions<Asset> = {},
    ): Promise<Asset> => {
      const last = await wait(this.assets.watch(asset, options), onChange);
      if (last.status === 'failed') throw new AssetFailed(last);
      return last;
    },
  };

  readonly outputs = {
    /**
     * Downloads what an engine made: to a path (it appears when it is complete), to a stream, or without a destination
     * as a Blob. An expired URL is replaced, a broken connection resumed.
     */
    download: (async (
      render: string | RenderRecord,
      engine: Engine,
      destination?: string | URL | WritableStream<Uint8Array>,
      options: DownloadOptions = {},
    ) => {
      if (destination !== undefined) {
        const sink = await openSink(destination, this.#platform);
        return download(render, engine, { ...options, sink }, this.#transport);
      }
      const sink = blobSink();
      await download(render, engine, { ...options, sink }, this.#transport);
      return sink.blob();
    }) as Download,
  };

  readonly webhooks = {
    /** The state of an event's delivery. */
    get: async (eventId: string, options: CallOptions = {}): Promise<Delivery> =>
      (await this.#transport.get<Delivery>(`/v1/webhooks/${encodeURIComponent(eventId)}`, options)).body,

    verify: verifyWebhook,
  };

  /** Uploads at once what has to be uploaded; when one upload fails, the others end. */
  async #inputs<Name extends MediaType>(
    media: Readonly<globalThis.Record<Name, MediaInput>>,
    { signal, onUpload }: CreateOptions,
  ): Promise<globalThis.Record<Name, AssetInput | UrlInput>> {
    const controller = new AbortController();
    const onAbort = () => controller.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener('abort', onAbort, { once: true });
    const names = Object.keys(media) as Name[];
    try {
      const inputs = names.map(async (mediaType) => {
        const known = asContractInput(media[mediaType]);
        if (known !== null) return [mediaType, known] as const;
        const { id } = await this.uploads.create(media[mediaType] as UploadSource, {
          mediaType,
          signal: controller.signal,
          onProgress: onUpload && ((sent, total) => onUpload(mediaType, sent, total)),
        });
        return [mediaType, { asset_id: id }] as const;
      });
      return Object.fromEntries(await Promise.all(inputs)) as globalThis.Record<Name, AssetInput | UrlInput>;
    } catch (error) {
      controller.abort(error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** The key is made once for all repetitions, so that they create one resource. */
  async #create<Resource>(
    path: string,
    request: { idempotency_key?: string },
    { signal }: CallOptions,
  ): Promise<Resource> {
    const body = { ...request, idempotency_key: request.idempotency_key || newKey() };
    return (await this.#transport.post<Resource>(path, { body, signal })).body;
  }
}

interface Download {
  (
    render: string | RenderRecord,
    engine: Engine,
    destination: string | URL | WritableStream<Uint8Array>,
    options?: DownloadOptions,
  ): Promise<void>;
  (
    render: string | RenderRecord,
    engine: Engine,
    destination?: undefined,
    options?: DownloadOptions,
  ): Promise<Blob>;
}

/** 128 random bits. crypto.randomUUID does not exist on pages without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
