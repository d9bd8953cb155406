import { availableParallelism } from 'node:os';
import { usableMemory } from '@lipsync/media';
import { PROVIDERS } from '@lipsync/model-pack';
import { MODEL_CACHE_BYTES } from '../protocol/memory';
import { type GraphSettings } from './packs/load-pack';

/** How the inference process uses its machine. */
export interface InferenceSettings {
  readonly graphs: GraphSettings;
  /** Number of processes like this one, itself included, that share the machine. */
  readonly processes: number;
  /** Total weights, in bytes, of the engines kept loaded between tasks. */
  readonly modelCacheBytes: number;
  /** Bytes that an engine may spend within a clip on caching instead of recomputing. */
  readonly spareBytes: number;
}

/**
 * Reads EXECUTION_PROVIDERS, MODEL_CACHE_BYTES and GPU_SLOTS as the supervisor validated them. By default the packs
 * choose their providers, the cache has its default size, and the process has the machine to itself.
 */
export function inferenceSettings(
  environment: Readonly<Record<string, string | undefined>>,
): InferenceSettings {
  const wanted = environment['EXECUTION_PROVIDERS']?.split(',');
  // Only the supervisor resolves `auto` and passes the number on; anything else that starts this process starts just
  // one.
  const processes = Number(environment['GPU_SLOTS']) || 1;
  return {
    processes,
    graphs: {
      cores: Math.max(1, Math.floor(availableParallelism() / processes)),
      ...(wanted && {
        providers: wanted.flatMap((name) => PROVIDERS.filter((provider) => provider === name.trim())),
      }),
    },
    modelCacheBytes: Number(environment['MODEL_CACHE_BYTES'] ?? MODEL_CACHE_BYTES),
    spareBytes: spareMemory(processes),
  };
}

/** Fits the banks of the 244 frames that highsync's steps are spread over, at 512 pixels 46 MB each. */
const MOST = 12 * 1024 ** 3;
/** Share of the memory that these processes may use; the rest is for weights, frames and the supervisor. */
const PART = 1 / 8;

/** Bytes that each of `processes` inference processes may spend on caching instead of recomputing. */
export function spareMemory(processes: number, usable = usableMemory()): number {
  return Math.min(MOST, (PART * usable) / processes);
}
