import { setTimeout as pauseFor } from 'node:timers/promises';
import { type Engine } from '@lipsync/contract';
import { type Logger } from '@lipsync/runtime';
import { reportOnPack } from '../host/check-pack';
import { type FoundPacks, type UsablePack } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';

/** How often a pack is tried while memory is short: whatever holds the memory may be about to end. */
const ATTEMPTS = 4;
const RETRY_MS = 10_000;

/**
 * Has the child load and probe every pack that was found, and keeps those that it accepts. Logs which pack serves which
 * engine, and why an engine is not served. An engine outside `wanted` is skipped silently. Packs that do not fit in
 * memory are retried a few times, with a `pause` of milliseconds before each try.
 */
export async function verifyPacks(
  found: FoundPacks,
  wanted: readonly Engine[],
  host: Pick<InferenceHost, 'verify'>,
  logger: Logger,
  pause: (ms: number) => Promise<unknown> = pauseFor,
): Promise<FoundPacks> {
  for (const { dir, problem } of found.problems)
    logger.warn('model pack refused', { pack_dir: dir, problem });
  const engines = [...found.engines].filter(([engine]) => wanted.includes(engine));
  const candidates = [...(found.analyzer ? [found.analyzer] : []), ...engines.map(([, pack]) => pack)];
  const accepted = await acceptedPacks(candidates, host, logger, pause);

  const analyzer = found.analyzer && accepted.get(found.analyzer.dir);
  if (!analyzer) {
    logger.error('no engine is available: there is no usable pack for the face analyzer');
    return { engines: new Map(), problems: found.problems };
  }
  const good = new Map<Engine, UsablePack>();
  for (const [engine, { dir }] of engines) {
    const pack = accepted.get(dir);
    if (pack) good.set(engine, pack);
  }
  for (const engine of wanted) {
    const pack = good.get(engine);
    if (pack) logger.info('engine available', { engine, pack: pack.version, provider: pack.provider });
    else logger.warn('engine unavailable: no usable model pack', { engine });
  }
  return { analyzer, engines: good, problems: found.problems };
}

/** The accepted packs by directory, with the child's report. */
async function acceptedPacks(
  candidates: readonly UsablePack[],
  host: Pick<InferenceHost, 'verify'>,
  logger: Logger,
  pause: (ms: number) => Promise<unknown>,
): Promise<Map<string, UsablePack>> {
  const accepted = new Map<string, UsablePack>();
  let waiting = candidates;
  for (let attempt = 1; waiting.length > 0; attempt++) {
    if (attempt > 1) await pause(RETRY_MS);
    const short: UsablePack[] = [];
    for (const pack of waiting) {
      const { dir, version } = pack;
      // One pack at a time, each in a child that may crash because of it without affecting the others.
      const report = await reportOnPack(dir, host);
      const { problem, provider, passedOver = [], features, shortOfMemory = false } = report;
      for (const reason of passedOver)
        logger.warn('execution provider not available', { pack_dir: dir, pack: version, reason });
      if (problem === undefined) {
        accepted.set(dir, {
          ...pack,
          ...(provider === undefined ? {} : { provider }),
          ...(features && { features }),
        });
      } else if (shortOfMemory && attempt < ATTEMPTS) {
        logger.warn('no memory for a model pack: trying again', { pack_dir: dir, pack: version, problem });
        short.push(pack);
      } else {
        const reason = shortOfMemory ? `no memory for it in ${ATTEMPTS} attempts: ${problem}` : problem;
        logger.warn('model pack refused', { pack_dir: dir, pack: version, problem: reason });
      }
    }
    waiting = short;
  }
  return accepted;
}

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
