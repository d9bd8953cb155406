export { z } from 'zod';
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
export {
  boolean,
  EnvError,
  listOf,
  loadEnv,
  OPERATIONS_SETTINGS,
  path,
  port,
  secondsList,
  sharedSettings,
  STORAGE_SETTINGS,
  timerSeconds,
  UPLOAD_SETTINGS,
  wholeNumber,
} from './env';
export {
  createHealthChecks,
  createHealthServer,
  type HealthCheck,
  type HealthReport,
  type MetricsSource,
  NotReadyYet,
} from './health';
export { createLogger, type LogFields, type Logger } from './logger';
export { createOutageNotice, retryWhile } from './outages';
export { type PriceList, priceOf } from './price-list';
export { createSecretBox, type SecretBox, SecretBoxError } from './secret-box';
export { createLifecycle, type Lifecycle, runService, type StartService } from './service';
export { type Clock, systemClock, withController } from './time';
