import { environment, loadEnv, type z } from '@lipsync/runtime';

const schema = environment.pick({
  NODE_ENV: true,
  LOG_LEVEL: true,
  DATABASE_URL: true,
  DATABASE_POOL_MAX: true,
  PUBLIC_BASE_URL: true,
  MASTER_KEY: true,
  HEALTH_PORT: true,
  WEBHOOK_RETRY_SCHEDULE_SECONDS: true,
  WEBHOOK_SLOTS: true,
  EGRESS_ROUTES: true,
  EGRESS_CA_FILE: true,
});

/** The settings of a webhook dispatcher. */
export type DispatcherEnv = z.output<typeof schema>;

/** Throws `EnvError`. */
export function loadDispatcherEnv(source: NodeJS.ProcessEnv): DispatcherEnv {
  return loadEnv(schema, source);
}
