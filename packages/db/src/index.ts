export { admitJobs, type Dispatch } from './dispatch/admission';
export {
  type ApiKeySummary,
  createCustomer,
  findApiKey,
  getSecret,
  hasCustomer,
  issueKey,
  type KeyOwner,
  type LimitChanges,
  listCustomers,
  listKeys,
  listSecrets,
  type NewCustomer,
  replaceCiphertext,
  revokeKey,
  rotateSecret,
  setLimits,
  touchApiKey,
} from './customers/customers';
export { createAsset, getAsset, type NewUrlAsset } from './inputs/assets';
export { type Backlog, type QueueBacklog, readBacklog } from './dispatch/backlog';
export {
  beginFeature,
  type Coverage,
  dropFeature,
  type FeatureBegin,
  type FeatureContent,
  type FeatureFault,
  type FeatureKey,
  type FeatureRequest,
  findFeature,
  giveUpFeature,
  publishFeature,
} from './features/features';
export { type Cancellation, cancelRender } from './renders/cancel-render';
export {
  type AnalyzeWork,
  type Claim,
  claimJob,
  type IngestWork,
  loadAnalyzeWork,
  loadIngestWork,
  loadRenderWork,
  type RenderWork,
} from './jobs/claim';
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
export { createDb, DATABASE_WAIT_MS, databaseNow, type Db, type DbOptions } from './postgres/db';
export { isDatabaseUnavailable } from './postgres/errors';
export { type DeliveryDetails, getDeliveryByEvent, redeliver } from './webhooks/deliveries';
export {
  type FailedDelivery,
  type FailureSearch,
  findFailedEvents,
  listFailedDeliveries,
} from './webhooks/failed-deliveries';
export { type FeatureObjectId, registerObject } from './features/feature-objects';
export { failJob, releaseJob, retryJob } from './jobs/fail';
export { type Heartbeat, heartbeatJob, type JobStage } from './jobs/heartbeat';
export { type IdempotencyClaim } from './customers/customer-transaction';
export { inspectRender, type RenderInspection } from './renders/inspect-render';
export { type JobIdentity, type Lease, type RecoveredJob } from './jobs/job';
export { migrate } from '@lipsync/prisma';
export {
  type CreatedPreparation,
  createPreparation,
  getPreparation,
  type NewPreparation,
  type PreparationDetails,
} from './inputs/preparations';
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
export { heartbeatWorker, liveQueues, registerWorker, removeWorker, type Slots } from './dispatch/workers';
