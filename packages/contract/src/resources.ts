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
