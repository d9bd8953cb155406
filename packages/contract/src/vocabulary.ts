import { openapiDocument } from './generated/document';
import { type Schemas } from './resources';

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
