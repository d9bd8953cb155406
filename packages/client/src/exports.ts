export {
  ApiError,
  type ApiErrorCode,
  type AssetErrorCode,
  AssetFailed,
  ConnectionError,
  type ErrorCode,
  type Exchange,
  LipSyncError,
  PreparationFailed,
  type RecordErrorCode,
  RenderCancelled,
  RenderFailed,
  TimeoutError,
  UnexpectedResponse,
} from './errors';
export { type DownloadOptions } from './download';
export {
  CONTENT_TYPE_BY_EXTENSION,
  CONTENT_TYPES,
  contentTypeOf,
  type MediaInput,
  type StreamSource,
  type UploadSource,
} from './media';
export type {
  Asset,
  AssetInput,
  AssetRequest,
  AssetStatus,
  Delivery,
  DeliveryStatus,
  Engine,
  EngineResult,
  ErrorCatalogue,
  Media,
  MediaType,
  Output,
  Preparation,
  PreparationRecord,
  RecordStatus,
  RenderRecord,
  SyncMode,
  Upload,
  UploadRequest,
  UrlInput,
  Usage,
  WebhookEvent,
  WebhookEventType,
} from './resources';
export { type CreateOptions, type PreparationParams, type RenderParams } from './client';
export { type CallOptions, type Fetch, isApiKey, type LipSyncOptions } from './transport';
export { type UploadOptions } from './upload';
export { type WaitOptions, type WatchOptions } from './watch';
export { verifyWebhook, WebhookVerificationError, type WebhookVerificationReason } from './webhooks';
