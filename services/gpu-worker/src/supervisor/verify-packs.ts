import { type Engine } from '@lipsync/contract';
import { type Logger } from '@lipsync/runtime';
import { type FoundPacks, type UsablePack } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';

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
  const accepted = await acceptedDirs(candidates, host, logger);

  const analyzer = found.analyzer && accepted.has(found.analyzer.dir) ? found.analyzer : undefined;
  if (!analyzer) {
    logger.error('no engine is available: there is no usable pack for the face analyser');
    return { engines: new Map(), problems: found.problems };
  }
  const good = new Map(engines.filter(([, pack]) => accepted.has(pack.dir)));
  for (const engine of wanted) {
    const pack = good.get(engine);
    if (pack) logger.info('engine available', { engine, pack: pack.version });
    else logger.warn('engine unavailable: no usable model pack', { engine });
  }
  return { analyzer, engines: good, problems: found.problems };
}

async function acceptedDirs(
  candidates: readonly UsablePack[],
  host: Pick<InferenceHost, 'verify'>,
  logger: Logger,
): Promise<Set<string>> {
  const accepted = new Set<string>();
  for (const { dir, version } of candidates) {
    // One pack at a time, each in a child that may die of it without taking the others along.
    const problem = await problemOf(dir, host);
    if (problem === undefined) accepted.add(dir);
    else logger.warn('model pack refused', { pack_dir: dir, pack: version, problem });
  }
  return accepted;
}

async function problemOf(dir: string, host: Pick<InferenceHost, 'verify'>): Promise<string | undefined> {
  try {
    const { packs } = await host.verify({ jobId: `verify:${dir}`, packDirs: [dir] });
    const report = packs.find(({ packDir }) => packDir === dir);
    return report ? report.problem : 'the inference process reported nothing';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
