import { readFileSync } from 'node:fs';
import { z } from 'zod';

const seconds = z.number().min(0);

/** Duration of one kind of work: a fixed part, a part per second of media, and the scatter of single jobs. */
const serviceModel = z.object({
  fixed_seconds: seconds,
  /** Per second of the output, or of the file for an ingest. */
  seconds_per_media_second: seconds,
  /** Additional time per second of a video that was not analyzed before. */
  analysis_seconds_per_video_second: seconds.default(0),
  /** Standard deviation of a job's time divided by the model's prediction. */
  scatter: z.number().min(0),
});
export type ServiceModel = z.output<typeof serviceModel>;

const measuredRender = z.object({
  at_seconds: seconds,
  customer: z.string(),
  engine: z.string(),
  output_seconds: seconds,
  /** Seconds of video that had to be analyzed; 0 if its face track was known. */
  analysed_seconds: seconds,
  ingests: z.array(z.object({ media_seconds: seconds, wait_seconds: seconds, service_seconds: seconds })),
  wait_seconds: seconds,
  service_seconds: seconds,
  end_to_end_seconds: seconds,
});
export type MeasuredRender = z.output<typeof measuredRender>;

const profile = z.object({
  /** Where the numbers come from: command, machine, date. */
  about: z.record(z.string(), z.unknown()),
  media: serviceModel,
  engines: z.record(z.string(), serviceModel),
  /** Time from when a job could start on an idle slot to its claim. */
  pickup_seconds: seconds,
  slots: z.object({ media: z.int().min(1), gpu: z.int().min(1), webhook: z.int().min(1) }),
  webhook: z.object({
    attempt_seconds: seconds,
    first_attempt_lag_p50: seconds,
    first_attempt_lag_p95: seconds,
  }),
  /** Beyond idle use. */
  per_render: z.object({
    /** Requests to the API, polls included. */
    api_requests: z.number().min(0),
    database_transactions: z.number().min(0),
    /** The total: idle processes write next to nothing, and a vacuum during the idle measurement would write a lot. */
    wal_bytes: z.number().min(0),
    stored_row_bytes: z.number().min(0),
    redis_commands: z.number().min(0),
    cpu_seconds: z.record(z.string(), seconds),
  }),
  /** Use of one process of each service while idle. */
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

/** The model's prediction of a job's time in seconds. */
export function modelSeconds(model: ServiceModel, mediaSeconds: number, analyzedSeconds = 0): number {
  const { fixed_seconds, seconds_per_media_second, analysis_seconds_per_video_second } = model;
  return (
    fixed_seconds +
    seconds_per_media_second * mediaSeconds +
    analysis_seconds_per_video_second * analyzedSeconds
  );
}

/** @throws Error when the profile lacks the engine */
export function modelOf(engines: Profile['engines'], engine: string): ServiceModel {
  const model = engines[engine];
  if (model === undefined) throw new Error(`the profile has no service times of ${engine}`);
  return model;
}
