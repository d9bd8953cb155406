import { type Engine } from '@lipsync/contract';
import { type Db } from '@lipsync/db';
import { type Queues, type RateLimiter } from '@lipsync/queue';
import { type Clock, type HealthReport, type Logger } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { type Tracing } from '@lipsync/telemetry';
import { type HttpMetrics } from './http/http-metrics';
import { type Ringer } from './ringer';

/** Configuration of the application. */
export interface ApiConfig {
  /** Base of every URL in a response; never taken from the Host header. */
  publicBaseUrl: string;
  /** Number of reverse proxies in front of this process whose X-Forwarded-For entries are trusted. */
  trustedProxyHops: number;
  recordTtlSeconds: number;
  uploadTtlSeconds: number;
  /** Engines whose workers start only when work is waiting: their renders are accepted while no worker is running. */
  enginesOnDemand: readonly Engine[];
}

/** Everything the application depends on. */
export interface ApiDeps {
  config: ApiConfig;
  db: Db;
  storage: Storage;
  queues: Pick<Queues, 'signalCancel'>;
  ringer: Ringer;
  rateLimiter: RateLimiter;
  clock: Clock;
  logger: Logger;
  httpMetrics: HttpMetrics;
  tracing: Tracing;
  /** What /readyz reports. */
  readiness: () => Promise<HealthReport>;
  /** True once a shutdown has begun. */
  isDraining: () => boolean;
}
