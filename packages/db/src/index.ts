export { admitJobs, type Dispatch } from './dispatch/admission';
export {
  type ApiKeySummary,
  findApiKey,
  issueKey,
  type KeyOwner,
  listKeys,
  revokeKey,
  touchApiKey,
} from './customers/api-keys';
export { createAsset, getAsset, type NewUrlAsset } from './inputs/assets';
export { type Backlog, type QueueBacklog, readBacklog } from './dispatch/backlog';
export { beginFeature, type FeatureBegin, type FeatureRequest, findFeature } from './features/begin-feature';
export { type Cancellation, cancelRender } from './renders/cancel-render';
export { type Claim, claimJob } from './jobs/claim';
export {
  claimDeliveries,
  type ClaimedDelivery,
  type DeliveryClaim,
  type DeliveryClaimOptions,
  type EndedDelivery,
} from './webhooks/claim-deliveries';
export {
  type Analysis,
  completeAnalyze,
  completeIngest,
  completeRender,
  type IngestedMedia,
} from './jobs/complete';
export { type CreatedRender, createRender, type NewRender } from './renders/create-render';
export {
  createCustomer,
  hasCustomer,
  type LimitChanges,
  listCustomers,
  type NewCustomer,
  setLimits,
} from './customers/customers';
export { databaseNow } from './postgres/database-clock';
export { isDatabaseUnavailable } from './postgres/errors';
export { createDb, DATABASE_WAIT_MS, type Db, type DbOptions } from './postgres/db';
export { type DeliveryDetails, getDeliveryByEvent, redeliver } from './webhooks/deliveries';
export {
  type FailedDelivery,
  type FailureSearch,
  findFailedEvents,
  listFailedDeliveries,
} from './webhooks/failed-deliveries';
export { registerObject, type FeatureObjectId } from './features/feature-objects';
export { type Coverage, type FeatureContent, type FeatureKey } from './features/features';
export { failJob, releaseJob, retryJob } from './jobs/fail';
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
export { dropFeature, type FeatureFault, giveUpFeature, publishFeature } from './features/publish-feature';
export { purge, type PurgedKind, type PurgeOptions, type PurgeReport } from './maintenance/purge';
export { type DatabaseEnv, openDb } from './postgres/open-db';
export { type JobKind, QUEUE_NAMES, type QueueName } from './dispatch/queue-names';
export { reconcile, type ReconcileOptions, type ReconcileReport } from './maintenance/reconcile';
export { getRender, type RenderDetails } from './renders/get-render';
export {
  type DeliveryOutcome,
  type DeliveryState,
  settleDelivered,
  settleUndelivered,
  type UndeliveredOutcome,
  type UndeliveredSettlement,
} from './webhooks/settle-deliveries';
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
export { heartbeatWorker, liveQueues, registerWorker, removeWorker, type Slots } from './dispatch/workers';
