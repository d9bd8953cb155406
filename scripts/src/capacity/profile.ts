import { readFileSync } from 'node:fs';
import { z } from 'zod';

const seconds = z.number().min(0);

/** How long work of one kind takes: a fixed part, a part per second of media, and how much single jobs scatter. */
const serviceModel = z.object({
  fixed_seconds: seconds,
  /** Per second of the output; of the file, for an ingest. */
  seconds_per_media_second: seconds,
  /** Beside that, per second of a video that was never analysed before. */
  analysis_seconds_per_video_second: seconds.default(0),
  /** Standard deviation of the time a job took over the time that the model says. */
  scatter: z.number().min(0),
});
export type ServiceModel = z.output<typeof serviceModel>;

const measuredRender = z.object({
  at_seconds: seconds,
  customer: z.string(),
  engine: z.string(),
  output_seconds: seconds,
  /** Seconds of video that had to be analysed; 0: its face track was known. */
  analysed_seconds: seconds,
  ingests: z.array(z.object({ media_seconds: seconds, wait_seconds: seconds, service_seconds: seconds })),
  wait_seconds: seconds,
  service_seconds: seconds,
  end_to_end_seconds: seconds,
});
export type MeasuredRender = z.output<typeof measuredRender>;

const profile = z.object({
  /** Where the numbers come from: a command, a machine, a date. */
  about: z.record(z.string(), z.unknown()),
  media: serviceModel,
  engines: z.record(z.string(), serviceModel),
  /** From the moment in which a job could start on an idle slot to its claim. */
  pickup_seconds: seconds,
  slots: z.object({ media: z.int().min(1), gpu: z.int().min(1), webhook: z.int().min(1) }),
  webhook: z.object({
    attempt_seconds: seconds,
    first_attempt_lag_p50: seconds,
    first_attempt_lag_p95: seconds,
  }),
  /** Beyond what is used while nothing happens. */
  per_render: z.object({
    /** Requests to the API, polls included. */
    api_requests: z.number().min(0),
    database_transactions: z.number().min(0),
    /** All of it: idle processes write next to none, and a vacuum that comes while they are watched writes much. */
    wal_bytes: z.number().min(0),
    stored_row_bytes: z.number().min(0),
    redis_commands: z.number().min(0),
    cpu_seconds: z.record(z.string(), seconds),
  }),
  /** What one process of each service uses while nothing happens. */
  idle: z.object({
    database_transactions_per_second: z.number().min(0),
    redis_commands_per_second: z.number().min(0),
    cpu_seconds_per_second: z.record(z.string(), seconds),
  }),
  renders: z.array(measuredRender),
});
export type Profile = z.output<typeof profile>;

const prices = z.object({
  currency: z.string(),
  /** By pod kind: `api`, `media-worker`, `webhook-dispatcher`, `gpu-worker/<engine>`. */
  pod_hour: z.record(z.string(), z.number().min(0)),
  /** Postgres, Redis, storage, ingress. */
  fixed_hour: z.number().min(0),
});
export type Prices = z.output<typeof prices>;

export const readProfile = (file: string): Profile => read(file, profile);
export const readPrices = (file: string): Prices => read(file, prices);

function read<T>(file: string, schema: z.ZodType<T>): T {
  const result = schema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!result.success) throw new Error(`${file}: ${z.prettifyError(result.error)}`);
  return result.data;
}

/** The time that the model says for a job. */
export function modelSeconds(model: ServiceModel, mediaSeconds: number, analysedSeconds = 0): number {
  const { fixed_seconds, seconds_per_media_second, analysis_seconds_per_video_second } = model;
  return (
    fixed_seconds +
    seconds_per_media_second * mediaSeconds +
    analysis_seconds_per_video_second * analysedSeconds
  );
}
