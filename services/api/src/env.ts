import { ENGINES } from '@lipsync/contract';
import { environment, OPERATIONS_SETTINGS, STORAGE_SETTINGS, wholeNumber, z } from '@lipsync/runtime';

/** What the API reads from its environment. */
export const apiEnvironment = environment
  .pick({
    ...OPERATIONS_SETTINGS,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    ...STORAGE_SETTINGS,
    PUBLIC_BASE_URL: true,
    PORT: true,
    RECORD_TTL_SECONDS: true,
    UPLOAD_TTL_SECONDS: true,
  })
  .extend({
    /** Reverse proxies in front of this process whose X-Forwarded-For is believed; 0: the peer is the client. */
    TRUSTED_PROXY_HOPS: wholeNumber(0, 9).default(0),
    /** Engines whose workers are started by the work that waits for them: accepted while none is there. */
    ENGINES_ON_DEMAND: environment.shape.ENGINES.pipe(
      z.array(z.enum(ENGINES, `must be of ${ENGINES.join(', ')}`)),
    ).default([]),
  });

export type ApiEnv = z.output<typeof apiEnvironment>;
