import { WEBHOOK_RETRY_DELAYS_SECONDS } from '@lipsync/domain';
import { OPERATIONS_SETTINGS, secondsList, sharedSettings, wholeNumber, type z } from '@lipsync/runtime';

/** Environment variables of a webhook dispatcher. */
export const dispatcherEnvironment = sharedSettings
  .pick({
    NODE_ENV: true,
    ...OPERATIONS_SETTINGS,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    PUBLIC_BASE_URL: true,
    MASTER_KEY: true,
    MASTER_KEY_PREVIOUS: true,
    WEBHOOK_PER_CUSTOMER: true,
    EGRESS_ROUTES: true,
    EGRESS_CA_FILE: true,
  })
  .extend({
    /** Delays after failed attempts 1, 2, …; their number is the number of retries. */
    WEBHOOK_RETRY_SCHEDULE_SECONDS: secondsList.default([...WEBHOOK_RETRY_DELAYS_SECONDS]),
    /** Maximum deliveries that one dispatcher has in flight. */
    WEBHOOK_SLOTS: wholeNumber(1, 1024).default(256),
  });

export type DispatcherEnv = z.output<typeof dispatcherEnvironment>;
