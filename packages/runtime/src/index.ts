export { z } from 'zod';
export { type Clock, systemClock } from './clock';
export {
  type Egress,
  type DownloadOptions,
  type Download,
  type PostOptions,
  type PostResponse,
  CONNECT_TIMEOUT_MS,
  createEgress,
} from './egress/egress';
export { type EgressEnv, openEgress } from './egress/open-egress';
export { EgressError, type EgressErrorReason } from './egress/egress-error';
export { DEFAULT_RATE_FLOOR } from './egress/rate-floor';
export { type EgressRoutes, parseEgressRoutes } from './egress/routes';
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
