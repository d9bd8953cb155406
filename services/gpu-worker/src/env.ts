import { ENGINES } from '@lipsync/contract';
import { VIDEO_DECODERS, VIDEO_ENCODERS, VIDEO_OUTPUTS } from '@lipsync/media';
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
import { MODEL_CACHE_BYTES } from './protocol/memory';

const PROVIDER = `(${PROVIDERS.join('|')})`;

/** Environment variables of the gpu-worker. */
export const gpuWorkerEnvironment = sharedSettings
  .pick({
    ...OPERATIONS_SETTINGS,
    DATABASE_URL: true,
    DATABASE_POOL_MAX: true,
    REDIS_URL: true,
    ...STORAGE_SETTINGS,
    PUBLIC_BASE_URL: true,
    PRICE_LIST: true,
    WORK_DIR: true,
    FFMPEG_BIN: true,
    FFPROBE_BIN: true,
    MEDIA_SANDBOX: true,
  })
  .extend({
    /** Engines that this worker may serve; it serves those for which it has a usable pack. */
    ENGINES: listOf(ENGINES).default([...ENGINES]),
    MODEL_PACKS_DIR: path,
    /** Whether it also makes preparations, for all engines that it serves. */
    PREPARATIONS: boolean.default(true),
    /** Number of inference processes; `auto` starts as many as the machine and its card can run, see `machineSlots`. */
    GPU_SLOTS: z.union([z.literal('auto'), wholeNumber(1, 64)]).default('auto'),
    /** What decodes and encodes video; `auto` uses the GPU if a trial at start succeeds. */
    VIDEO_ENCODER: z.enum([...VIDEO_ENCODERS, 'auto']).default('libx264'),
    VIDEO_DECODER: z.enum([...VIDEO_DECODERS, 'auto']).default('software'),
    /** In what outputs come back: as their sources are, or always as 8-bit H.264. */
    VIDEO_OUTPUT: z.enum(VIDEO_OUTPUTS).default('source'),
    /** Wall-clock limit of one render or analysis, from claim to completion. */
    ENGINE_TIMEOUT_SECONDS: timerSeconds(1).default(3600),
    /** How long loading and verifying packs may take before the process counts as stuck. */
    LOADING_TIMEOUT_SECONDS: timerSeconds(1).default(1800),
    /** How long running jobs may continue after SIGTERM before they are handed to another worker. */
    SHUTDOWN_GRACE_SECONDS: timerSeconds(1).default(20),
    /** Size limit of the cache of inputs, face tracks and features under WORK_DIR. */
    CACHE_MAX_BYTES: wholeNumber(0).default(4 * 1024 ** 3),
    /**
     * ONNX Runtime execution providers that graphs may run on, preferred first; default: each pack's own preference.
     */
    EXECUTION_PROVIDERS: z
      .string()
      .regex(
        new RegExp(`^${PROVIDER}(\\s*,\\s*${PROVIDER})*$`),
        `must be one or more of ${PROVIDERS.join(', ')}`,
      )
      .optional(),
    /** Total weights, in bytes, of the engines that an inference process keeps loaded between jobs. */
    MODEL_CACHE_BYTES: wholeNumber(0).default(MODEL_CACHE_BYTES),
    /**
     * Whether outputs carry content credentials: never, where there is a certificate, or always; then the worker does
     * not start without one.
     */
    CONTENT_CREDENTIALS: z.enum(['off', 'on', 'required']).default('on'),
    /** The certificate that signs them, with its chain, and its key: each PEM, or a path of a file with it. */
    CONTENT_CREDENTIALS_CERTIFICATE: z.string().optional(),
    CONTENT_CREDENTIALS_KEY: z.string().optional(),
    /** An OpenCost-compatible server that knows what this pod costs, and the pod's name there. */
    POD_COST_URL: z.url('must be a URL').optional(),
    POD_NAME: z.string().optional(),
    /**
     * Used without such a server: the price of this pod, and the billing increment; a begun increment is charged in
     * full.
     */
    POD_PRICE_USD_PER_HOUR: z
      .string()
      .regex(/^\d+(\.\d+)?$/, 'must be an amount of dollars')
      .transform(Number)
      .optional(),
    POD_BILLING_INCREMENT_SECONDS: wholeNumber(1).default(1),
  });

export type GpuWorkerEnv = z.output<typeof gpuWorkerEnvironment>;
