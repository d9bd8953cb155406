export { type ApiClient, ApiError, createApiClient, download } from './demo/api-client';
export { contentTypeOf } from './demo/content-type';
export { type EventReceiver, startEventReceiver } from './demo/event-receiver';
export { untilInterrupted } from './demo/interrupted';
export { renderFiles } from './demo/render-files';
export {
  DEFAULT_STACK_ROOT,
  PACKS_DIR,
  REPOSITORY_ROOT,
  SAMPLE_AUDIO,
  SAMPLE_VIDEO,
  stackLayout,
} from './layout';
export { createStack, type Stack, type StackDescription } from './local-stack';
export { machine } from './machine';
export { median } from './median';
export { parseCount, parseWhole } from './number-option';
export { processBegan } from './process-began';
export { createProcessManager, type ProcessSpec } from './process-manager';
export { processStat } from './processes/process-stat';
export {
  childrenOf,
  machineCpuSeconds,
  processCpuSeconds,
  treeResidentBytes,
} from './processes/process-usage';
export { readIfThere } from './processes/read-if-there';
export { provision, provisionCustomer } from './provision';
export { quantile } from './quantile';
export { createRandom, pick, pickWeighted, type Random } from './random';
export { s3UploadPair, serverPids, startServers, stopServers } from './servers';
export { backendEnvironment, RECEIVER_HOST, s3Endpoint, serviceSpecs } from './services';
export {
  createState,
  type ExternalServers,
  type GpuWorkerPlan,
  type StackCustomer,
  type StackState,
  type StoreAccess,
} from './state';
export { waitUntil } from './wait-until';
