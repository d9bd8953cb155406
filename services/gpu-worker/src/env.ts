import { ENGINES } from '@lipsync/contract';
import { VIDEO_DECODERS, VIDEO_ENCODERS } from '@lipsync/media';
import { PROVIDERS } from '@lipsync/model-pack';
import {
  boolean,
  listOf,
  OPERATIONS_SETTINGS,
  path,
  sharedSettings,
  STORAGE_SETTINGS,
  timerSeconds,
  wholeNumber,
  z,
} from '@lipsync/runtime';
import { MODEL_CACHE_BYTES } from './protocol/model-cache-default';

const PROVIDER = `(${PROVIDERS.join('|')})`;

/** What the gpu-worker reads from its environment. */
export const gpuWorkerEnvironment = sharedSettings
  .pick({
    ...OPERATIONS_SETTINGS,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    ...STORAGE_SETTINGS,
    PUBLIC_BASE_URL: true,
    WORK_DIR: true,
    FFMPEG_BIN: true,
    FFPROBE_BIN: true,
  })
  .extend({
    /** Engines this worker may serve; those of them that have a good pack are served. */
    ENGINES: listOf(ENGINES).default([...ENGINES]),
    MODEL_PACKS_DIR: path,
    /** Whether it also makes preparations, for all engines that it serves. */
    PREPARATIONS: boolean.default(true),
    /** Inference processes; `auto`: as many as the machine carries. */
    GPU_SLOTS: z.union([z.literal('auto'), wholeNumber(1, 64)]).default(1),
    /** What writes and reads pictures; `auto` takes a card where a trial at start succeeds. */
    VIDEO_ENCODER: z.enum([...VIDEO_ENCODERS, 'auto']).default('libx264'),
    VIDEO_DECODER: z.enum([...VIDEO_DECODERS, 'auto']).default('software'),
    /** Wall-clock limit of one render or analysis, from claim to completion. */
    ENGINE_TIMEOUT_SECONDS: timerSeconds(1).default(3600),
    /** How long loading and verifying packs may take before the process counts as stuck. */
    LOADING_TIMEOUT_SECONDS: timerSeconds(1).default(1800),
    /** How long running jobs may go on after SIGTERM before they are handed to another worker. */
    SHUTDOWN_GRACE_SECONDS: timerSeconds(1).default(20),
    /** Bound of the cache of inputs, face tracks and features under WORK_DIR. */
    CACHE_MAX_BYTES: wholeNumber(0).default(4 * 1024 ** 3),
    /** Execution providers of ONNX Runtime that graphs may run on, preferred first; absent: what each pack prefers. */
    EXECUTION_PROVIDERS: z
      .string()
      .regex(new RegExp(`^${PROVIDER}(\\s*,\\s*${PROVIDER})*$`), `must be of ${PROVIDERS.join(', ')}`)
      .optional(),
    /** Weights of engines that an inference process keeps loaded between jobs. */
    MODEL_CACHE_BYTES: wholeNumber(0).default(MODEL_CACHE_BYTES),
    /** An OpenCost-compatible server that knows what this pod costs, and the pod's name there. */
    POD_COST_URL: z.url('must be a URL').optional(),
    POD_NAME: z.string().optional(),
    /** Without such a server: the price of this pod, and what begun stretch of time is charged. */
    POD_PRICE_USD_PER_HOUR: z
      .string()
      .regex(/^\d+(\.\d+)?$/, 'must be an amount of dollars')
      .transform(Number)
      .optional(),
    POD_BILLING_INCREMENT_SECONDS: wholeNumber(1).default(1),
  });

export type GpuWorkerEnv = z.output<typeof gpuWorkerEnvironment>;
