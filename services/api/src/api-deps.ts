import { type Engine } from '@lipsync/contract';
import { type Db, type QueueName } from '@lipsync/db';
import { type Enqueuer, type Queues, type RateLimiter } from '@lipsync/queue';
import { type Clock, type Logger } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { type Telemetry } from '@lipsync/telemetry';
import { type HttpMetrics } from './http/http-metrics';

/** Settings of the application, by what they decide. */
export interface ApiConfig {
  /** Base of every address in answers; never taken from the Host header. */
  publicBaseUrl: string;
  /** Reverse proxies in front of this process whose X-Forwarded-For is believed. */
  trustedProxyHops: number;
  recordTtlSeconds: number;
  uploadTtlSeconds: number;
  /** How long a request waits for the object store altogether. */
  storageWaitMs: number;
  /** The origin of the store's signed URLs. */
  storeOrigin: string;
  /** The folder of the page that is served at /studio; null serves none. */
  studioFolder: string | null;
  /** Engines whose workers are started by the work that waits for them: accepted while none is there. */
  enginesOnDemand: readonly Engine[];
}

/** What the process opens for the application, and closes after it. */
export interface ApiConnections {
  config: ApiConfig;
  db: Db;
  storage: Storage;
  queues: Queues;
  rateLimiter: RateLimiter;
  clock: Clock;
  logger: Logger;
  telemetry: Telemetry;
  /** True once a shutdown has begun. */
  isDraining: () => boolean;
}

/** All that the application works with. */
export interface ApiDeps extends ApiConnections {
  /** Tells workers, after the response, that there is work to do. */
  enqueuer: Enqueuer<QueueName>;
  httpMetrics: HttpMetrics;
}
