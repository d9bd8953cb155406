import { resolveBinaries, resolveVideoCodecs } from '@lipsync/media';
import { type Logger } from '@lipsync/runtime';
import { type GpuWorkerEnv } from '../env';

/**
 * What the child may know of its machine: paths of binaries and libraries, and devices. Never a credential or address.
 */
const PASSED = [
  'PATH',
  'HOME',
  'TMPDIR',
  'TZ',
  'LANG',
  'NODE_ENV',
  'LD_LIBRARY_PATH',
  'CUDA_VISIBLE_DEVICES',
  'CUDA_DEVICE_ORDER',
  'NVIDIA_VISIBLE_DEVICES',
  'NVIDIA_DRIVER_CAPABILITIES',
  'NVIDIA_TF32_OVERRIDE',
];

/** What `findVideoCodecs` decides. */
const VIDEO_CHOICES = ['VIDEO_ENCODER', 'VIDEO_DEEP_ENCODER', 'VIDEO_DECODER', 'VIDEO_OUTPUT'] as const;

/** The service's own settings that the child reads. An empty one is absent; an empty list of devices still counts. */
const SETTINGS = [
  'FFMPEG_BIN',
  'FFPROBE_BIN',
  'MEDIA_SANDBOX',
  ...VIDEO_CHOICES,
  'EXECUTION_PROVIDERS',
  'MODEL_CACHE_BYTES',
  'GPU_SLOTS',
];

/**
 * glibc returns the memory of large tensors when they are freed and takes it again, page by page, for the next ones,
 * which costs a fifth of a graph's time. These settings let it keep 128 MiB and treat allocations below 32 MiB as
 * small. Other allocators do not read them.
 */
const ALLOCATOR = {
  MALLOC_MMAP_THRESHOLD_: String(32 * 1024 ** 2),
  MALLOC_TRIM_THRESHOLD_: String(128 * 1024 ** 2),
};

/**
 * ONNX Runtime builds since 1.29 report sessions, models and errors to their vendor, and keep a machine identifier on
 * disk for this purpose, unless telemetry is disabled before they start.
 */
const PRIVACY = { ORT_DISABLE_TELEMETRY: '1' };

/** The environment of the inference child, which parses untrusted media and so gets an allow-list, not a deny-list. */
export function childEnvironment(
  source: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const environment: Record<string, string> = { ...ALLOCATOR, ...PRIVACY };
  for (const name of PASSED) {
    const value = source[name];
    if (value !== undefined) environment[name] = value;
  }
  for (const name of SETTINGS) {
    const value = source[name];
    if (value) environment[name] = value;
  }
  return environment;
}

/**
 * The video codecs and the kind of output for the inference processes, as environment variables: what the settings ask
 * for and a trial on this machine allows. `inherited` is this process's own environment, which says where a card's
 * libraries are. @throws VideoCodecError when a codec that is requested by name does not work, Error when there are no
 * media tools, or none that can be confined.
 */
export async function findVideoCodecs(
  env: Pick<
    GpuWorkerEnv,
    'FFMPEG_BIN' | 'FFPROBE_BIN' | 'VIDEO_ENCODER' | 'VIDEO_DECODER' | 'VIDEO_OUTPUT' | 'MEDIA_SANDBOX'
  >,
  inherited: Readonly<Record<string, string | undefined>>,
  logger: Logger,
): Promise<Record<(typeof VIDEO_CHOICES)[number], string>> {
  const { FFMPEG_BIN, FFPROBE_BIN, MEDIA_SANDBOX } = env;
  // Settings may say `auto`, which no process can obey, so they are removed until they are resolved.
  const unresolved = { ...inherited, VIDEO_ENCODER: undefined, VIDEO_DECODER: undefined };
  const binaries = await resolveBinaries({ ...unresolved, FFMPEG_BIN, FFPROBE_BIN, MEDIA_SANDBOX });
  const { codecs, output, passedOver } = await resolveVideoCodecs(binaries, {
    encoder: env.VIDEO_ENCODER,
    decoder: env.VIDEO_DECODER,
    output: env.VIDEO_OUTPUT,
  });
  for (const { codec, reason } of passedOver) logger.warn('video codec not available', { codec, reason });
  const { encoder, deepEncoder, decoder } = codecs;
  logger.info('video codecs', {
    video_encoder: encoder,
    ...(output === 'source' ? { video_deep_encoder: deepEncoder } : {}),
    video_decoder: decoder,
    video_output: output,
  });
  return {
    VIDEO_ENCODER: encoder,
    VIDEO_DEEP_ENCODER: deepEncoder,
    VIDEO_DECODER: decoder,
    VIDEO_OUTPUT: output,
  };
}
