import { type Logger } from '@lipsync/runtime';
import { type FoundPacks } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';

/**
 * Has every child load what its first job will need, where loading is slow: engines on a GPU, to which gigabytes are
 * copied. Skipped where one engine would evict another and it is unknown which is needed first. `cacheBytes` is the
 * size of the weights that a child keeps. Never rejects: a child that could not be warmed up simply starts cold.
 */
export async function warmUp(
  hosts: readonly Pick<InferenceHost, 'warm'>[],
  { analyzer, engines }: FoundPacks,
  cacheBytes: number,
  logger: Logger,
): Promise<void> {
  const onGpu = [...engines].filter(([, { provider = 'cpu' }]) => provider !== 'cpu');
  const allBytes = [...engines.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  if (!analyzer || onGpu.length === 0 || (engines.size > 1 && allBytes > cacheBytes)) return;
  const wanted = onGpu.map(([engine, pack]) => ({ engine, pack }));
  const started = performance.now();
  await Promise.all(
    hosts.map(async (host, slot) => {
      try {
        await host.warm({ jobId: `warm:${slot}`, analyzer, engines: wanted });
      } catch (error) {
        logger.warn('an inference process could not be warmed up', { slot, error });
      }
    }),
  );
  logger.info('warmed up', {
    engines: wanted.map(({ engine }) => engine),
    ms: Math.round(performance.now() - started),
  });
}
