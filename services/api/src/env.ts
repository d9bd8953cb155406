import { ENGINES } from '@lipsync/contract';
import { RECORD_TTL_SECONDS, SIGNED_URL_SECONDS } from '@lipsync/domain';
import {
  listOf,
  OPERATIONS_SETTINGS,
  port,
  sharedSettings,
  STORAGE_SETTINGS,
  wholeNumber,
  type z,
} from '@lipsync/runtime';

/** What the API reads from its environment. */
export const apiEnvironment = sharedSettings
  .pick({
    ...OPERATIONS_SETTINGS,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    ...STORAGE_SETTINGS,
    PUBLIC_BASE_URL: true,
  })
  .extend({
    PORT: port.default(8080),
    RECORD_TTL_SECONDS: wholeNumber(1).default(RECORD_TTL_SECONDS),
    UPLOAD_TTL_SECONDS: wholeNumber(1, SIGNED_URL_SECONDS).default(SIGNED_URL_SECONDS),
    /** Reverse proxies in front of this process whose X-Forwarded-For is believed; 0: the peer is the client. */
    TRUSTED_PROXY_HOPS: wholeNumber(0, 9).default(0),
    /** Engines whose workers are started by the work that waits for them: accepted while none is there. */
    ENGINES_ON_DEMAND: listOf(ENGINES).default([]),
  });

export type ApiEnv = z.output<typeof apiEnvironment>;
