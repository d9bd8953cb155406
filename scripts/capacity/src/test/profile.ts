import { type Profile } from '../profile';

/** A profile whose jobs take no time, unless the test says otherwise. */
export const profileOf = (over: Partial<Profile>): Profile => ({
  about: {},
  media: {
    fixed_seconds: 0,
    seconds_per_media_second: 0,
    analysis_seconds_per_video_second: 0,
    scatter: 0,
  },
  engines: {},
  pickup_seconds: 0,
  slots: { media: 2, gpu: 1, webhook: 64 },
  webhook: { attempt_seconds: 0.2, first_attempt_lag_p50: 0.5, first_attempt_lag_p95: 1 },
  per_render: {
    api_requests: 12,
    database_transactions: 100,
    wal_bytes: 5000,
    stored_row_bytes: 1000,
    redis_commands: 50,
    cpu_seconds: { postgres: 0.3, redis: 0.01 },
  },
  idle: {
    database_transactions_per_second: 20,
    redis_commands_per_second: 10,
    cpu_seconds_per_second: { postgres: 0.02 },
  },
  renders: [],
  ...over,
});
