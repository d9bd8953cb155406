export { parseCount, parseEngines, parseWhole, runProgram } from './command-line';
export { type EventReceiver, startEventReceiver } from './event-receiver';
export { machine, mean, median, printFigures, quantile } from './figures';
export {
  DEFAULT_PACKS_DIR,
  DEFAULT_STACK_ROOT,
  PACKS_DIR,
  REPOSITORY_ROOT,
  SAMPLE_AUDIO,
  SAMPLE_VIDEO,
  stackLayout,
} from './layout';
export { lipsyncRender } from './lipsync';
export { createStack, type Stack, type StackDescription } from './local-stack';
export { createProcessManager, type ProcessSpec } from './process-manager';
export {
  childrenOf,
  machineCpuSeconds,
  processBegan,
  processCpuSeconds,
  processStat,
  readIfThere,
  treeResidentBytes,
} from './processes';
export { newCustomerWithKey, provision, provisionCustomer } from './provision';
export { createRandom, pick, pickWeighted, type Random } from './random';
export { leaksIn, leaksInLogs, secretsOf } from './secrets';
export { s3Options, serverPids, startServers, stopServers } from './servers';
export {
  adminEnvironment,
  backendEnvironment,
  lackingAt,
  RECEIVER_HOST,
  s3Endpoint,
  serviceSpecs,
} from './services';
export {
  createState,
  type ExternalServers,
  type GpuWorkerPlan,
  type StackCustomer,
  type StackState,
  type StoreAccess,
} from './state';
export { untilInterrupted, waitUntil } from './waiting';
