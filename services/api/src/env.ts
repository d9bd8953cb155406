import { ENGINES } from '@lipsync/contract';
import { RECORD_TTL_SECONDS, SIGNED_URL_SECONDS } from '@lipsync/domain';
import {
  listOf,
  OPERATIONS_SETTINGS,
  port,
  sharedSettings,
  STORAGE_SETTINGS,
  UPLOAD_SETTINGS,
  wholeNumber,
  z,
} from '@lipsync/runtime';

/** Environment variables of the API. */
export const apiEnvironment = sharedSettings
  .pick({
    ...OPERATIONS_SETTINGS,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    ...STORAGE_SETTINGS,
    ...UPLOAD_SETTINGS,
    PUBLIC_BASE_URL: true,
  })
  .extend({
    PORT: port.default(8080),
    /** Open connections of callers: even an idle one costs memory and a file descriptor. */
    CONNECTIONS_MAX: wholeNumber(1, 65_536).default(4096),
    RECORD_TTL_SECONDS: wholeNumber(1).default(RECORD_TTL_SECONDS),
    UPLOAD_TTL_SECONDS: wholeNumber(1, SIGNED_URL_SECONDS).default(SIGNED_URL_SECONDS),
    /** Whether /studio serves the page on which people render in a browser. */
    STUDIO: z.enum(['on', 'off']).default('on'),
    /** Number of reverse proxies whose X-Forwarded-For entries are trusted; with 0 the peer is the client. */
    TRUSTED_PROXY_HOPS: wholeNumber(0, 9).default(0),
    /** Engines whose workers start only when work is waiting: their renders are accepted while no worker is running. */
    ENGINES_ON_DEMAND: listOf(ENGINES).default([]),
  });

export type ApiEnv = z.output<typeof apiEnvironment>;
