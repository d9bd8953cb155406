import { isIP } from 'node:net';
import { z } from 'zod';
import { parseEgressRoutes } from './egress/dial';
import { priceList } from './price-list';

/** The environment does not configure a service that can run. The message lists every invalid variable. */
export class EnvError extends Error {
  override readonly name = 'EnvError';
}

/**
 * Reads and checks the settings of a process once, at start. An empty variable counts as absent, because deployment
 * tools write it that way.
 * @throws EnvError that lists all problems, without repeating any value (it may be a secret)
 */
export function loadEnv<Schema extends z.ZodType>(
  schema: Schema,
  source: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const present = Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const name = issue.path.join('.');
    // An invalid item of a list has its own path. The first element of the path is the variable.
    const [variable = ''] = issue.path;
    return `  ${name}: ${variable in present ? issue.message : 'is missing'}`;
  });
  throw new EnvError(`missing or invalid environment variables:\n${problems.join('\n')}`);
}

const LARGEST_PORT = 65_535;

const url = z.url('must be a URL');
/** Paths are appended, so a trailing slash would appear twice. */
const baseUrl = url.transform((text) => text.replace(/\/+$/, ''));
export const path = z.string().min(1);

/** A setting that is a count. */
export const wholeNumber = (smallest: number, largest = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(smallest).max(largest));

/** Longer than any wait. A Node timer that is set for 25 days or more fires at once. */
const TIMER_SECONDS_MAX = 86_400;

/** A duration: how long something may take, or is waited for. */
export const timerSeconds = (smallest: number) => wholeNumber(smallest, TIMER_SECONDS_MAX);

export const port = wholeNumber(0, LARGEST_PORT);

const ipAddress = z.string().refine((text) => isIP(text) !== 0, 'must be an IP address');

const masterKey = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits');

export const boolean = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true');

const commaList = z.string().transform((text) => text.split(',').map((item) => item.trim()));

/** A comma-separated subset of these words. */
export const listOf = <Word extends string>(words: readonly Word[]) =>
  commaList.pipe(z.array(z.enum(words, `must be one of ${words.join(', ')}`)));

/** Seconds, separated by commas. */
export const secondsList = commaList.pipe(
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
 * The settings that several processes read, described once. A service's `env.ts` picks what it needs,
 * `loadEnv(sharedSettings.pick({ DATABASE_URL: true }), process.env)`, and adds its own.
 */
export const sharedSettings = z.object({
  /** Unset means production: what is for development must be asked for. */
  NODE_ENV: z.enum(['development', 'test', 'production']).default('production'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),

  DATABASE_URL: url,
  DATABASE_POOL_MAX: wholeNumber(1, 200).default(10),
  REDIS_URL: url,

  S3_ENDPOINT: url,
  /** The endpoint at which customers reach the same store, used in signed URLs. Defaults to S3_ENDPOINT. */
  S3_PUBLIC_ENDPOINT: url.optional(),
  S3_REGION: z.string().default('us-east-1'),
  S3_BUCKET: z.string().min(3),
  S3_ACCESS_KEY_ID: z.string().min(1),
  S3_SECRET_ACCESS_KEY: z.string().min(1),
  S3_FORCE_PATH_STYLE: boolean.default(true),
  /** Sign uploads in place of the pair above; both or neither. May do nothing but put objects under `uploads/`. */
  S3_UPLOAD_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_UPLOAD_SECRET_ACCESS_KEY: z.string().min(1).optional(),

  /** 32 bytes in hex. Encrypts webhook secrets at rest. */
  MASTER_KEY: masterKey,
  /** The former MASTER_KEY while it is being replaced. */
  MASTER_KEY_PREVIOUS: masterKey.optional(),
  PUBLIC_BASE_URL: baseUrl,
  HEALTH_PORT: port.default(8081),
  /** The address of this machine on which every port is opened. Absent: all of them, of both families. */
  LISTEN_ADDRESS: ipAddress.optional(),

  /** Base URL of an OpenTelemetry collector that accepts OTLP over HTTP. Without it, no spans are sent. */
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional(),
  /** The ratio of traces begun here that are sent. */
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1),

  /** Maximum number of deliveries of one customer in flight, over all dispatchers. */
  WEBHOOK_PER_CUSTOMER: wholeNumber(1, 65_536).default(64),

  /**
   * How long the usage of a run is kept. At least a year, which the rights of the services in the database say as well;
   * by default as long as tax law commonly asks for invoices.
   */
  USAGE_RETENTION_MONTHS: wholeNumber(12, 1200).default(120),
  /** What a minute of output costs, by engine. Without it there are no estimates by it. */
  PRICE_LIST: priceList.optional(),

  /** Development only: `host:port=ip:port,…` destinations on loopback that the egress client may reach. */
  EGRESS_ROUTES: egressRoutes.default(() => new Map()),
  /** Development only: PEM file of the CA that signed the routed destinations' certificates. */
  EGRESS_CA_FILE: path.optional(),

  /** Whether media tools that this machine cannot confine are an error, or run all the same. */
  MEDIA_SANDBOX: z.enum(['required', 'preferred']).default('required'),
  WORK_DIR: path,
  FFMPEG_BIN: path.optional(),
  FFPROBE_BIN: path.optional(),
});

/** The settings for a process that opens the object store. */
export const STORAGE_SETTINGS = {
  S3_ENDPOINT: true,
  S3_PUBLIC_ENDPOINT: true,
  S3_REGION: true,
  S3_BUCKET: true,
  S3_ACCESS_KEY_ID: true,
  S3_SECRET_ACCESS_KEY: true,
  S3_FORCE_PATH_STYLE: true,
} as const;

/** In addition, for a process that signs uploads. */
export const UPLOAD_SETTINGS = {
  S3_UPLOAD_ACCESS_KEY_ID: true,
  S3_UPLOAD_SECRET_ACCESS_KEY: true,
} as const;

/** The settings for every service: log level, health server, destination of traces. */
export const OPERATIONS_SETTINGS = {
  LOG_LEVEL: true,
  LISTEN_ADDRESS: true,
  HEALTH_PORT: true,
  OTEL_EXPORTER_OTLP_ENDPOINT: true,
  OTEL_TRACES_SAMPLER_ARG: true,
} as const;

/** The environment a service runs in. Development-only features refuse to start in production. */
export type NodeEnv = z.output<typeof sharedSettings>['NODE_ENV'];
