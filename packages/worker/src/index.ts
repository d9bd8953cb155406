export { type JobDisposition } from './disposition';
export { createJobFolders, type JobFolders } from './job-folders';
export { logRecoveredJob } from './job-report';
export { createPeriodicLoop, noTurnHangs, type PeriodicLoop } from './periodic-loop';
export { keepWorkerRow } from './registration';
export {
  type ClaimedJob,
  consumerFetches,
  createJobRunner,
  createWorker,
  type JobResult,
  type Worker,
} from './worker';
