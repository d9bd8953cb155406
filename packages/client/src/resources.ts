import {
  type EngineResult,
  type Record as ContractRecord,
  type WebhookEvent as ContractEvent,
} from './generated/contract';

export type {
  Asset,
  AssetInput,
  AssetRequest,
  AssetStatus,
  Delivery,
  DeliveryStatus,
  Engine,
  EngineResult,
  Error,
  ErrorCatalogue,
  Media,
  MediaType,
  Output,
  Preparation,
  PreparationRequest,
  RecordStatus,
  RenderRequest,
  SyncMode,
  Upload,
  UploadRequest,
  UrlInput,
  Usage,
  WebhookEventType,
} from './generated/contract';

/** A render: its state, progress, and a result for every engine. */
export interface RenderRecord extends ContractRecord {
  audio_asset_id: string;
  sync_mode: string;
  engines: EngineResult[];
}

/** A preparation: its state, progress, and once completed what the analysis found. */
export type PreparationRecord = Omit<
  ContractRecord,
  'audio_asset_id' | 'engines' | 'preparation_id' | 'sync_mode'
>;

type EventOf<Type extends ContractEvent['type'], Data> = Omit<ContractEvent, 'type' | 'data'> & {
  type: Type;
  data: Data;
};

/** What a webhook delivers. Deduplicate by `id`; fetch the render for addresses of its outputs. */
export type WebhookEvent =
  | EventOf<'render.completed' | 'render.failed' | 'render.cancelled', RenderRecord>
  | EventOf<'preparation.completed' | 'preparation.failed', PreparationRecord>;
