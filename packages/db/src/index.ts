export { enqueueJobs, queuesWithWaitingJobs } from './queue/enqueue';
export {
  type ApiKeySummary,
  findApiKeys,
  issueKey,
  type KeyOwner,
  listKeys,
  revokeKey,
  touchApiKey,
} from './customers/api-keys';
export { createAsset, getAsset, type NewUrlAsset } from './inputs/assets';
export { type Backlog, type QueueBacklog, readBacklog } from './queue/backlog';
export {
  beginFeature,
  type FeatureBegin,
  type FeatureRequest,
  findFeature,
  type Coverage,
  type FeatureContent,
  type FeatureKey,
  dropFeature,
  type FeatureFault,
  giveUpFeature,
  publishFeature,
} from './features/features';
export { type Cancellation, cancelRender } from './renders/cancel-render';
export { type Claim, claimJob } from './jobs/claim';
export { claimDeliveries, type ClaimedDelivery, type EndedDelivery } from './webhooks/claim-deliveries';
export {
  type Analysis,
  completeAnalyze,
  completeIngest,
  completeRender,
  type IngestedMedia,
} from './jobs/complete';
export { type CreatedRender, createRenders } from './renders/create-render';
export { type NewRender } from './renders/render-draft';
export {
  createCustomer,
  hasCustomer,
  type LimitChanges,
  listCustomers,
  type NewCustomer,
  setLimits,
} from './customers/customers';
export { databaseNow } from './postgres/database-clock';
export { isDatabaseUnavailable } from './postgres/database-unavailable';
export { createDb, DATABASE_WAIT_MS, type Db, type DbOptions } from './postgres/db';
export {
  type DeliveryDetails,
  type FailedDelivery,
  type FailureSearch,
  findFailedEvents,
  getDeliveryByEvent,
  listFailedDeliveries,
  redeliver,
} from './webhooks/deliveries';
export { registerObject, type FeatureObjectId } from './features/feature-objects';
export { failJob, releaseJob, retryJob } from './jobs/give-up';
export { type Heartbeat, heartbeatJob, type JobStage } from './jobs/heartbeat';
export { type IdempotencyClaim } from './customers/idempotency';
export { inspectRender, type RenderInspection } from './renders/inspect-render';
export { type JobIdentity, type RecoveredJob } from './jobs/job-identity';
export { type Lease } from './jobs/lease';
export { migrate } from './postgres/migrate';
export {
  type CreatedPreparation,
  createPreparation,
  getPreparation,
  type NewPreparation,
  type PreparationDetails,
} from './inputs/preparations';
export { purge, type PurgedKind, type PurgeOptions, type PurgeReport } from './maintenance/purge';
export { type DatabaseEnv, openDb } from './postgres/open-db';
export { type JobKind, QUEUE_NAMES, type QueueName } from './queue/queues';
export { reconcile, type ReconcileOptions, type ReconcileReport } from './maintenance/reconcile';
export { getRenders, type RenderDetails, type RenderName } from './renders/renders';
export { type DeliveryOutcome, type DeliveryState, settleDelivery } from './webhooks/settle-delivery';
export { completeUpload, createUpload, type NewUpload, type StagedObject } from './inputs/uploads';
export { getSecret, listSecrets, replaceCiphertext, rotateSecret } from './customers/webhook-secrets';
export {
  type AnalyzeWork,
  type IngestWork,
  loadAnalyzeWork,
  loadIngestWork,
  loadRenderWork,
  type RenderWork,
} from './jobs/work';
export { heartbeatWorker, liveQueues, registerWorker, removeWorker, type Slots } from './queue/workers';
