import { type Logger } from '@lipsync/runtime';
import { type FoundPacks } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';

/**
 * Lets every child load what its first job will need, where that takes long: engines on a GPU, to which gigabytes are
 * carried. Not where one engine would push out another and it cannot be known which is wanted first. `cacheBytes` are
 * the weights that a child keeps. Never rejects: a child that could not be warmed up is a cold one.
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
