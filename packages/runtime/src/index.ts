export { z } from 'zod';
export { type Clock, systemClock } from './clock';
export { EgressError, type EgressErrorReason, parseEgressRoutes } from './egress/dial';
export {
  CONNECT_TIMEOUT_MS,
  createEgress,
  DEFAULT_RATE_FLOOR,
  type Download,
  type Egress,
  openEgress,
  type PostResponse,
} from './egress/egress';
export { EnvError, loadEnv } from './load-env';
export {
  type NodeEnv,
  OPERATIONS_SETTINGS,
  sharedSettings,
  STORAGE_SETTINGS,
  UPLOAD_SETTINGS,
} from './shared-settings';
export { boolean, listOf, path, port, secondsList, timerSeconds, wholeNumber } from './setting-kinds';
export { batchCalls } from './batch-calls';
export { type HealthCheck, type HealthReport, createHealthChecks, NotReadyYet } from './health-checks';
export { type HealthServer, type MetricsSource, createHealthServer } from './health-server';
export { type Lifecycle, type ProcessHandle, createLifecycle } from './lifecycle';
export { type LogFields, type Logger, type LogLevel, createLogger } from './logger';
export { retryWhile } from './retry-while';
export { createOutageNotice } from './outage-notice';
export { type StartService, runService } from './run-service';
export { type SecretBox, SecretBoxError, createSecretBox } from './secret-box';
export { withController } from './with-controller';
