import { mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '@lipsync/local-stack';
import { checkedPack, isolatePack } from '@lipsync/models';
import { type EngineFigures, measureAnalysis, measureEngine, stepsOf } from './measure-engine';
import { type EngineManifest, packBench, type PackToBench } from './pack-bench';

/** The number of steps that the official diffusion packs are published with. */
const PUBLISHED_STEPS = 20;

/** `npm run bench:engines` */
runProgram(
  packBench(
    {
      name: 'bench:engines',
      description:
        'Frames per second of every engine pack, diffusion packs also at the published number of steps.',
      key: 'engines',
    },
    benchEngine,
  ),
);

/** Each variant of a pack renders the clip in a process of its own. */
async function* benchEngine({
  pack,
  analyzerDir,
  clip,
  folder,
}: PackToBench): AsyncGenerator<EngineFigures & { provider: string }> {
  for (const manifest of variants(pack.manifest)) {
    const own = await mkdtemp(path.join(folder, 'packs-'));
    const { provider } = await checkedPack(await isolatePack(own, { pack, manifest, beside: analyzerDir }));
    const trackPath = path.join(own, 'track.bin');
    await measureAnalysis(own, clip, trackPath);
    yield { ...(await measureEngine({ packsDir: own, manifest, clip, trackPath })), provider };
  }
}

function variants(manifest: EngineManifest): EngineManifest[] {
  if (manifest.engine === 'musetalk' || stepsOf(manifest) === PUBLISHED_STEPS) return [manifest];
  const published = structuredClone(manifest);
  published.params.schedule.steps = PUBLISHED_STEPS;
  return [manifest, published];
}
