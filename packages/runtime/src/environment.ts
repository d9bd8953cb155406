import { z } from 'zod';
import { parseEgressRoutes } from './egress/routes';

const LARGEST_PORT = 65_535;

const url = z.url('must be a URL');
/** Paths are appended to it, so a slash at its end would be told twice. */
const baseUrl = url.transform((text) => text.replace(/\/+$/, ''));
const path = z.string().min(1);

/** A setting that counts something. */
export const wholeNumber = (smallest: number, largest = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(smallest).max(largest));

const masterKey = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits');

const boolean = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

const commaList = z.string().transform((text) => text.split(',').map((item) => item.trim()));

const secondsList = commaList.pipe(
  z.array(
    z
      .string()
      .regex(/^\d+(\.\d+)?$/, 'must be a comma-separated list of seconds')
      .transform(Number),
  ),
);

const egressRoutes = z.string().transform((text, context) => {
  try {
    return parseEgressRoutes(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'is malformed' });
    return z.NEVER;
  }
});

/**
 * Every setting of every service, described once: a service's `env.ts` picks what it needs,
 * `loadEnv(environment.pick({ DATABASE_URL: true }), process.env)`.
 */
export const environment = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),

  DATABASE_URL: url,
  DATABASE_POOL_MAX: wholeNumber(1, 200).default(10),
  REDIS_URL: url,

  S3_ENDPOINT: url,
  /** Where customers reach the same store; signed URLs name this host. Absent: the same as S3_ENDPOINT. */
  S3_PUBLIC_ENDPOINT: url.optional(),
  S3_REGION: z.string().default('us-east-1'),
  S3_BUCKET: z.string().min(3),
  S3_ACCESS_KEY_ID: z.string().min(1),
  S3_SECRET_ACCESS_KEY: z.string().min(1),
  S3_FORCE_PATH_STYLE: boolean.default(true),

  /** 32 bytes in hex: encrypts webhook secrets at rest. */
  MASTER_KEY: masterKey,
  /** While MASTER_KEY is being replaced: what it was before. */
  MASTER_KEY_PREVIOUS: masterKey.optional(),
  PUBLIC_BASE_URL: baseUrl,
  PORT: wholeNumber(0, LARGEST_PORT).default(8080),
  HEALTH_PORT: wholeNumber(0, LARGEST_PORT).default(8081),

  /** Base address of an OpenTelemetry collector that takes OTLP over HTTP; absent: nothing is traced. */
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional(),
  /** Share of the traces begun here that are sent. */
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1),

  RECORD_TTL_SECONDS: wholeNumber(1).default(7 * 24 * 60 * 60),
  UPLOAD_TTL_SECONDS: wholeNumber(1).default(15 * 60),

  /** Delays after failed attempts 1, 2, …; its length is the number of retries. Absent: the default schedule. */
  WEBHOOK_RETRY_SCHEDULE_SECONDS: secondsList.optional(),
  /** Deliveries that one dispatcher has in flight at most. */
  WEBHOOK_SLOTS: wholeNumber(1, 1024).default(256),
  /** Deliveries of one customer that all dispatchers together have in flight at most. */
  WEBHOOK_PER_CUSTOMER: wholeNumber(1, 65_536).default(64),

  /** Development only: `host:port=ip:port,…` destinations on loopback that the egress client may reach. */
  EGRESS_ROUTES: egressRoutes.default(() => new Map()),
  /** Development only: PEM file of the authority that signed the routed destinations' certificates. */
  EGRESS_CA_FILE: path.optional(),

  MODEL_PACKS_DIR: path,
  ENGINES: commaList.default(['musetalk', 'latentsync', 'highsync']),
  /** Inference processes; `auto`: as many as the machine carries. */
  GPU_SLOTS: z.union([z.literal('auto'), wholeNumber(1, 64)]).default(1),
  WORK_DIR: path,
  FFMPEG_BIN: path.optional(),
  FFPROBE_BIN: path.optional(),
  /** What writes and reads pictures; `auto` takes a card where a trial at start succeeds. */
  VIDEO_ENCODER: z.enum(['libx264', 'h264_nvenc', 'auto']).default('libx264'),
  VIDEO_DECODER: z.enum(['software', 'cuda', 'auto']).default('software'),
});

/** What a process picks that opens the object store. */
export const STORAGE_SETTINGS = {
  S3_ENDPOINT: true,
  S3_PUBLIC_ENDPOINT: true,
  S3_REGION: true,
  S3_BUCKET: true,
  S3_ACCESS_KEY_ID: true,
  S3_SECRET_ACCESS_KEY: true,
  S3_FORCE_PATH_STYLE: true,
} as const;

/** What every service picks: how much it logs, where it is asked for its health, where its traces go. */
export const OPERATIONS_SETTINGS = {
  LOG_LEVEL: true,
  HEALTH_PORT: true,
  OTEL_EXPORTER_OTLP_ENDPOINT: true,
  OTEL_TRACES_SAMPLER_ARG: true,
} as const;

/** The environment a service runs in; development-only features refuse to start in production. */
export type NodeEnv = z.output<typeof environment>['NODE_ENV'];
