import { environment, loadEnv, z } from '@lipsync/runtime';

const schema = environment
  .pick({
    LOG_LEVEL: true,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    S3_ENDPOINT: true,
    S3_PUBLIC_ENDPOINT: true,
    S3_REGION: true,
    S3_BUCKET: true,
    S3_ACCESS_KEY_ID: true,
    S3_SECRET_ACCESS_KEY: true,
    S3_FORCE_PATH_STYLE: true,
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
