// The rows that the pure core reads: fields of the database's tables, as the database returns them. Status columns are
// plain text there and here; the views check them. Byte counts are numbers (at most 2^28).

export interface CustomerRow {
  id: string;
  name: string;
  state: string;
  createdAt: Date;
  postPerMinute: number | null;
  getPerMinute: number | null;
  activeRecordsMax: number | null;
  runningJobsMax: number | null;
  openUploadsMax: number | null;
}

export interface AssetRow {
  id: string;
  customerId: string;
  mediaType: string;
  status: string;
  stage: string;
  sourceUrl: string | null;
  contentType: string | null;
  objectKey: string | null;
  sha256: string | null;
  sizeBytes: number;
  durationSeconds: number;
  codec: string;
  width: number | null;
  height: number | null;
  frames: number | null;
  fps: number | null;
  /** What the ingest found out about the stream that renders use: JSON of `storedStream`, or null. */
  stream: unknown;
  errorCode: string | null;
  /** What customers read in place of the catalogue's message. */
  errorDetail: string | null;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date;
  purgedAt: Date | null;
}

export interface UploadRow {
  id: string;
  customerId: string;
  assetId: string;
  status: string;
  contentType: string;
  sizeBytes: number;
  stagingKey: string;
  etag: string | null;
  createdAt: Date;
  expiresAt: Date;
  completedAt: Date | null;
  purgedAt: Date | null;
}

export interface RenderRow {
  id: string;
  customerId: string;
  status: string;
  stage: string;
  progressPercent: number;
  videoAssetId: string;
  audioAssetId: string;
  syncMode: string;
  preparationId: string | null;
  webhookUrl: string | null;
  errorCode: string | null;
  createdAt: Date;
  updatedAt: Date;
  completedAt: Date | null;
  expiresAt: Date;
  purgedAt: Date | null;
}

export interface EngineRunRow {
  id: string;
  renderId: string;
  customerId: string;
  engine: string;
  position: number;
  status: string;
  stage: string;
  progressPercent: number;
  outputKey: string | null;
  errorCode: string | null;
  errorDetail: string | null;
  /** The input that made the engine run fail before it began. */
  failedInput: string | null;
  /** JSON with what was measured (see record-view). */
  usage: unknown;
  createdAt: Date;
  updatedAt: Date;
}

/** The fields of an engine run that a render shows. */
export type RunSummary = Omit<EngineRunRow, 'renderId' | 'customerId' | 'createdAt' | 'updatedAt'>;

export interface PreparationRow {
  id: string;
  customerId: string;
  status: string;
  stage: string;
  progressPercent: number;
  videoAssetId: string;
  webhookUrl: string | null;
  errorCode: string | null;
  errorDetail: string | null;
  version: string | null;
  analyzerVersion: string | null;
  frames: number | null;
  fps: number | null;
  width: number | null;
  height: number | null;
  durationSeconds: number | null;
  videoSha256: string | null;
  createdAt: Date;
  updatedAt: Date;
  completedAt: Date | null;
  expiresAt: Date;
  purgedAt: Date | null;
}

/** The fields of a preparation that a render shows. */
export type PreparationSummary = Pick<
  PreparationRow,
  'status' | 'version' | 'analyzerVersion' | 'frames' | 'fps' | 'width' | 'height' | 'durationSeconds'
>;

export interface JobRow {
  id: string;
  kind: string;
  queue: string;
  customerId: string;
  assetId: string | null;
  preparationId: string | null;
  engineRunId: string | null;
  status: string;
  attempts: number;
  fence: number;
  leaseUntil: Date | null;
  availableAt: Date;
  enqueueSeq: number;
  enqueuedAt: Date | null;
  workerId: string | null;
  lastErrorCode: string | null;
  createdAt: Date;
}

export interface WebhookEventRow {
  id: string;
  customerId: string;
  renderId: string | null;
  preparationId: string | null;
  type: string;
  body: string;
  createdAt: Date;
  expiresAt: Date;
}

export interface WebhookDeliveryRow {
  id: string;
  eventId: string;
  customerId: string;
  url: string;
  origin: string;
  status: string;
  attempts: number;
  nextAttemptAt: Date | null;
  leaseUntil: Date | null;
  claimToken: string | null;
  lastHttpStatus: number | null;
  lastError: string | null;
  createdAt: Date;
  updatedAt: Date;
}
