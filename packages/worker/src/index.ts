export { consumerFetches } from './consumer-health';
export { type JobLimit } from './hold-claim';
export { createJobFolders, type JobFolders } from './job-folders';
export { type JobOutcome } from './job-outcome';
export {
  type ClaimedJob,
  createJobRunner,
  type EndedJob,
  type JobResult,
  type JobRunner,
  type JobRunnerOptions,
} from './job-runner';
export { noTurnHangs } from './loop-health';
export { createPeriodicLoop, type PeriodicLoop } from './periodic-loop';
export { tellRecovered } from './tell-recovered';
export { type Blame } from './verdict';
export { keepWorkerRow, type WorkerRowOptions } from './worker-row';
