import {
  type EngineResult as ContractResult,
  type Error,
  type Output,
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

type Result<Status, Brings> = Omit<ContractResult, 'status' | 'output' | 'error'> & {
  status: Status;
} & Brings;
type ResultOf<Completed> =
  | Result<'accepted' | 'processing' | 'cancelled', { output?: undefined; error?: undefined }>
  | Result<'completed', Completed & { error?: undefined }>
  | Result<'failed', { output?: undefined; error: Error }>;

/** What one engine made of a render: once it is `completed` an output, once it `failed` a reason. */
export type EngineResult = ResultOf<{ output: Output }>;

/** A render: its state, progress, and a result for every engine. */
export interface RenderRecord extends Omit<ContractRecord, 'engines'> {
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

/** Outputs would expire before the last attempt to deliver them. */
type RenderOfEvent = Omit<RenderRecord, 'engines'> & { engines: ResultOf<{ output?: undefined }>[] };

/** What a webhook delivers. Deduplicate by `id`; fetch the render for the URLs of its outputs. */
export type WebhookEvent =
  | EventOf<'render.completed' | 'render.failed' | 'render.cancelled', RenderOfEvent>
  | EventOf<'preparation.completed' | 'preparation.failed', PreparationRecord>;
