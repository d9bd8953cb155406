import {
  OPERATIONS_SETTINGS,
  sharedSettings,
  STORAGE_SETTINGS,
  timerSeconds,
  wholeNumber,
  z,
} from '@lipsync/runtime';

/** Environment variables of a media worker. */
export const mediaWorkerEnvironment = sharedSettings
  .pick({
    NODE_ENV: true,
    ...OPERATIONS_SETTINGS,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    ...STORAGE_SETTINGS,
    PUBLIC_BASE_URL: true,
    // Distinguishes deliveries waiting for a dispatcher from those waiting because of their customer's cap.
    WEBHOOK_PER_CUSTOMER: true,
    USAGE_RETENTION_MONTHS: true,
    WORK_DIR: true,
    EGRESS_ROUTES: true,
    EGRESS_CA_FILE: true,
    FFMPEG_BIN: true,
    FFPROBE_BIN: true,
    MEDIA_SANDBOX: true,
  })
  .extend({
    /** Concurrent ingests; each may download 256 MiB and keep a decoder busy. */
    MEDIA_SLOTS: wholeNumber(1).default(2),
    /** Wall-clock limit of one download, redirects included. */
    DOWNLOAD_TIMEOUT_SECONDS: timerSeconds(1).default(180),
    /** Limit of a download until the first byte of the file, redirects included. */
    DOWNLOAD_FIRST_BYTE_TIMEOUT_SECONDS: timerSeconds(1).default(15),
    /** Wall-clock limit of each decoding pass over one file. */
    PROBE_TIMEOUT_SECONDS: timerSeconds(1).default(600),
    /** How long running ingests may continue after SIGTERM before they are handed to another worker. */
    SHUTDOWN_GRACE_SECONDS: timerSeconds(0).default(15),
    /** How long a job waits for a worker that serves its queue; must exceed the time that starting one takes. */
    UNSERVED_DEADLINE_SECONDS: timerSeconds(60).default(1800),
    /** Pause between two rounds of deleting what has expired; skipped while there is more to delete. */
    PURGE_INTERVAL_SECONDS: timerSeconds(1).default(30),
    PATH: z.string().optional(),
  });

export type MediaWorkerEnv = z.output<typeof mediaWorkerEnvironment>;
