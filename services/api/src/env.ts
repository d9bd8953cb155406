import { environment, loadEnv, STORAGE_SETTINGS, z } from '@lipsync/runtime';

const schema = environment
  .pick({
    LOG_LEVEL: true,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    ...STORAGE_SETTINGS,
    S3_PUBLIC_ENDPOINT: true,
    PUBLIC_BASE_URL: true,
    PORT: true,
    RECORD_TTL_SECONDS: true,
    UPLOAD_TTL_SECONDS: true,
  })
  .extend({
    /** Reverse proxies in front of this process whose X-Forwarded-For is believed; 0: the peer is the client. */
    TRUSTED_PROXY_HOPS: z.string().regex(/^\d$/, 'must be a number from 0 to 9').transform(Number).default(0),
  });

export type ApiEnv = z.output<typeof schema>;

/** This process's settings. Throws one EnvError that names every unusable variable. */
export function loadApiEnv(source: Readonly<Record<string, string | undefined>>): ApiEnv {
  return loadEnv(schema, source);
}
