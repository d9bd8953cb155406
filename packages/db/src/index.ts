export { enqueueJobs, queuesWithWaitingJobs } from './queue/enqueue';
export {
  type ApiKeySummary,
  findApiKey,
  issueKey,
  listKeys,
  revokeKey,
  touchApiKey,
} from './customers/api-keys';
export {
  createCustomer,
  hasCustomer,
  type LimitChanges,
  listCustomers,
  setLimits,
} from './customers/customers';
export { dropDeliveries, setCustomerState } from './customers/suspension';
export { getSecret, listSecrets, replaceCiphertext, rotateSecret } from './customers/webhook-secrets';
export { type Act, type AuditRow, listAudit, recordAct } from './audit/audit-log';
export { createAsset, findUnknownContents, getAsset } from './inputs/assets';
export { type Backlog, readBacklog } from './queue/backlog';
export {
  beginFeature,
  type Coverage,
  dropFeature,
  type FeatureBegin,
  type FeatureKey,
  findFeature,
  giveUpFeature,
  publishFeature,
} from './features/features';
export { cancelOpenRenders, cancelRender } from './renders/cancel-render';
export {
  type Claim,
  claimJob,
  type IngestWork,
  loadAnalyzeWork,
  loadIngestWork,
  loadRenderWork,
} from './jobs/claim';
export { claimDeliveries, type ClaimedDelivery, type EndedDelivery } from './webhooks/claim-deliveries';
export { completeAnalyze, completeIngest, completeRender, type IngestedMedia } from './jobs/complete';
export { type CreatedRender, createRender, type NewRender } from './renders/create-render';
export { createDb, databaseNow, type Db } from './postgres/db';
export { isDatabaseUnavailable } from './postgres/errors';
export {
  type FailedDelivery,
  type FailureSearch,
  findFailedEvents,
  getDeliveryByEvent,
  listFailedDeliveries,
  redeliver,
} from './webhooks/deliveries';
export { registerObject } from './features/feature-objects';
export { failJob, releaseJob, retryJob } from './jobs/fail';
export { heartbeatJob, type JobStage } from './jobs/heartbeat';
export { inspectRender, type RenderInspection } from './renders/inspect-render';
export { type JobIdentity, type Lease, type RecoveredJob } from './jobs/job';
export { migrate, type RunUsage } from '@lipsync/prisma';
export { createPreparation, getPreparation } from './inputs/preparations';
export { stopOpenPreparations } from './inputs/stop-preparations';
export { purge } from './maintenance/purge';
export { openDb } from './postgres/open-db';
export { QUEUE_NAMES, type QueueName } from './queue/queues';
export { reconcile } from './maintenance/reconcile';
export { type ListedRender, listRenders } from './renders/list-renders';
export { getRender, type RenderDetails } from './renders/get-render';
export { type DeliveryOutcome, type DeliveryState, settleDelivery } from './webhooks/settle-delivery';
export { listUsage, sumUsage, type UsageTotal } from './usage/run-usage';
export { completeUpload, createUpload } from './inputs/uploads';
export { heartbeatWorker, liveQueues, registerWorker, removeWorker, type Slots } from './queue/workers';
export {
  deleteErased,
  deleteFeatures,
  deleteRest,
  type ErasedFeatures,
  erasurePages,
  findErasedFeatures,
} from './erasure/erasure-pages';
export { endErasure, findLeftRows } from './erasure/end-erasure';
export { type ErasureSubject, findErasureSubject } from './erasure/subject';
export { findEndedJobs, findOpenUploads, stopWork, WRITERS_SECONDS } from './erasure/stop-work';
