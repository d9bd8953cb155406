import { availableParallelism } from 'node:os';
import { PROVIDERS } from '@lipsync/model-pack';
import { MODEL_CACHE_BYTES } from '../protocol/model-cache-default';
import { type GraphSettings } from './packs/load-pack';
import { spareMemory } from './spare-memory';

/** How the inference process uses its machine. */
export interface InferenceSettings {
  readonly graphs: GraphSettings;
  /** Processes like this one, itself included, that share the machine. */
  readonly processes: number;
  /** Weights of engines kept loaded between tasks. */
  readonly modelCacheBytes: number;
  /** What an engine may remember within a clip so as not to compute it again. */
  readonly spareBytes: number;
}

/**
 * Reads EXECUTION_PROVIDERS, MODEL_CACHE_BYTES and GPU_SLOTS as the supervisor checked them; absent ones leave the
 * choice to the packs, a default, and the process alone on its machine.
 */
export function inferenceSettings(
  environment: Readonly<Record<string, string | undefined>>,
): InferenceSettings {
  const wanted = environment['EXECUTION_PROVIDERS']?.split(',');
  // `auto` is for the supervisor, which says what came of it; who starts this process otherwise starts one.
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
