import { environment, OPERATIONS_SETTINGS, type z } from '@lipsync/runtime';

/** What a webhook dispatcher reads from its environment. */
export const dispatcherEnvironment = environment.pick({
  NODE_ENV: true,
  ...OPERATIONS_SETTINGS,
  DATABASE_URL: true,
  DATABASE_POOL_MAX: true,
  PUBLIC_BASE_URL: true,
  MASTER_KEY: true,
  MASTER_KEY_PREVIOUS: true,
  WEBHOOK_RETRY_SCHEDULE_SECONDS: true,
  WEBHOOK_SLOTS: true,
  WEBHOOK_PER_CUSTOMER: true,
  EGRESS_ROUTES: true,
  EGRESS_CA_FILE: true,
});

export type DispatcherEnv = z.output<typeof dispatcherEnvironment>;
