import { type Engine } from '@lipsync/contract';
import { type Logger } from '@lipsync/runtime';
import { type FoundPacks, type UsablePack } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';
import { reportOnPack } from '../host/report-on-pack';

/**
 * Lets the child load and probe every pack that was found and keeps those that it accepts. Says in the log what is
 * served by what, and why an engine is not. An engine outside `wanted` is left out without a word.
 */
export async function verifyPacks(
  found: FoundPacks,
  wanted: readonly Engine[],
  host: Pick<InferenceHost, 'verify'>,
  logger: Logger,
): Promise<FoundPacks> {
  for (const { dir, problem } of found.problems)
    logger.warn('model pack refused', { pack_dir: dir, problem });
  const engines = [...found.engines].filter(([engine]) => wanted.includes(engine));
  const candidates = [...(found.analyzer ? [found.analyzer] : []), ...engines.map(([, pack]) => pack)];
  const accepted = await acceptedPacks(candidates, host, logger);

  const analyzer = found.analyzer && accepted.get(found.analyzer.dir);
  if (!analyzer) {
    logger.error('no engine is available: there is no usable pack for the face analyser');
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

/** By directory, with what the child says about them. */
async function acceptedPacks(
  candidates: readonly UsablePack[],
  host: Pick<InferenceHost, 'verify'>,
  logger: Logger,
): Promise<Map<string, UsablePack>> {
  const accepted = new Map<string, UsablePack>();
  for (const pack of candidates) {
    const { dir, version } = pack;
    // One pack at a time, each in a child that may die of it without taking the others along.
    const { problem, provider, passedOver = [], featuresVersion } = await reportOnPack(dir, host);
    for (const reason of passedOver)
      logger.warn('execution provider not available', { pack_dir: dir, pack: version, reason });
    if (problem === undefined) {
      accepted.set(dir, {
        ...pack,
        ...(provider === undefined ? {} : { provider }),
        ...(featuresVersion === undefined ? {} : { featuresVersion }),
      });
    } else {
      logger.warn('model pack refused', { pack_dir: dir, pack: version, problem });
    }
  }
  return accepted;
}
