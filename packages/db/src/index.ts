export { admitJobs, type Dispatch } from './admission';
export {
  type ApiKeySummary,
  findApiKeys,
  issueKey,
  type KeyOwner,
  listKeys,
  revokeKey,
  touchApiKey,
} from './api-keys';
export { createAsset, getAsset, type NewUrlAsset } from './assets';
export { type Backlog, type QueueBacklog, readBacklog } from './backlog';
export { beginFeature, type FeatureBegin, type FeatureWish, findFeature } from './begin-feature';
export { type Cancellation, cancelRender } from './cancel-render';
export { type Claim, claimJob } from './claim';
export {
  claimDeliveries,
  type ClaimedDelivery,
  type DeliveryClaim,
  type DeliveryClaimOptions,
  type EndedDelivery,
} from './claim-deliveries';
export {
  type Analysis,
  completeAnalyze,
  completeIngest,
  completeRender,
  type IngestedMedia,
} from './complete';
export { type CreatedRender, createRenders } from './create-render';
export { type NewRender } from './render-draft';
export {
  createCustomer,
  hasCustomer,
  type LimitChanges,
  listCustomers,
  type NewCustomer,
  setLimits,
} from './customers';
export { databaseNow } from './database-clock';
export { isDatabaseUnavailable } from './database-unavailable';
export { createDb, DATABASE_WAIT_MS, type Db, type DbOptions } from './db';
export { type DeliveryDetails, getDeliveryByEvent, redeliver } from './deliveries';
export {
  type FailedDelivery,
  type FailureSearch,
  findFailedEvents,
  listFailedDeliveries,
} from './failed-deliveries';
export { expectObject, type FeatureObjectId } from './feature-objects';
export { type Coverage, type FeatureContent, type FeatureKey } from './feature-row';
export { failJob, releaseJob, retryJob } from './give-up';
export { type Heartbeat, heartbeatJob, type JobStage } from './heartbeat';
export { type IdempotencyClaim } from './idempotency';
export { inspectRender, type RenderInspection } from './inspect-render';
export { type JobIdentity, type RecoveredJob } from './job-identity';
export { type Lease } from './lease';
export { migrate } from './migrate';
export {
  type CreatedPreparation,
  createPreparation,
  getPreparation,
  type NewPreparation,
  type PreparationDetails,
} from './preparations';
export { dropFeature, type FeatureFault, giveUpFeature, publishFeature } from './publish-feature';
export { purge, type PurgedKind, type PurgeOptions, type PurgeReport } from './purge';
export { type DatabaseEnv, openDb } from './open-db';
export { type JobKind, QUEUE_NAMES, type QueueName } from './queue-names';
export { reconcile, type ReconcileOptions, type ReconcileReport } from './reconcile';
export { getRenders, type RenderDetails, type RenderName } from './renders';
export {
  type DeliveryOutcome,
  type DeliveryState,
  settleDelivered,
  settleUndelivered,
  type UndeliveredOutcome,
  type UndeliveredSettlement,
} from './settle-deliveries';
export { completeUpload, createUpload, type NewUpload, type StagedObject } from './uploads';
export { getSecret, listSecrets, replaceCiphertext, rotateSecret } from './webhook-secrets';
export {
  type AnalyzeWork,
  type IngestWork,
  loadAnalyzeWork,
  loadIngestWork,
  loadRenderWork,
  type RenderWork,
} from './work';
export { heartbeatWorker, liveQueues, registerWorker, removeWorker, type Slots } from './workers';
