import { openapiDocument } from './generated/document';
import { type components } from './generated/openapi';

/** The type of every schema of the document, by schema name. */
export type Schemas = components['schemas'];

/** The name of a schema of the document, as `validate` takes it. */
export type SchemaName = keyof Schemas;

export type Input = Schemas['Input'];
export type RenderRequest = Schemas['RenderRequest'];
export type PreparationRequest = Schemas['PreparationRequest'];
export type UploadRequest = Schemas['UploadRequest'];
export type AssetRequest = Schemas['AssetRequest'];

/** A render or a preparation as sent over the wire. Not called `Record`, because TypeScript has a type of that name. */
export type RecordResource = Schemas['Record'];
export type EngineResult = Schemas['EngineResult'];
export type Output = Schemas['Output'];
export type Usage = Schemas['Usage'];
export type Preparation = Schemas['Preparation'];
export type Asset = Schemas['Asset'];
export type Media = Schemas['Media'];
export type Upload = Schemas['Upload'];
export type Delivery = Schemas['Delivery'];
export type WebhookEvent = Schemas['WebhookEvent'];
export type ErrorBody = Schemas['Error'];
export type ErrorResponse = Schemas['ErrorResponse'];

const { schemas } = openapiDocument.components;

export type Engine = Schemas['Engine'];
export const ENGINES: readonly Engine[] = schemas.Engine.enum;

export type SyncMode = Schemas['SyncMode'];
export const SYNC_MODES: readonly SyncMode[] = schemas.SyncMode.enum;

export type MediaType = Schemas['MediaType'];
export const MEDIA_TYPES: readonly MediaType[] = schemas.MediaType.enum;

export type RecordStatus = Schemas['RecordStatus'];
export const RECORD_STATUSES: readonly RecordStatus[] = schemas.RecordStatus.enum;

export type AssetStatus = Schemas['AssetStatus'];
export const ASSET_STATUSES: readonly AssetStatus[] = schemas.AssetStatus.enum;

export type DeliveryStatus = Schemas['DeliveryStatus'];
export const DELIVERY_STATUSES: readonly DeliveryStatus[] = schemas.DeliveryStatus.enum;

export type WebhookEventType = Schemas['WebhookEventType'];

/** The property of a webhook event that holds the record; `data.id` identifies the render or preparation. */
export const WEBHOOK_RECORD_FIELD = 'data' satisfies keyof WebhookEvent;
