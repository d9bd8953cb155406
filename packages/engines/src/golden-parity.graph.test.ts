import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RunModel } from './model';
import { openPack, type Pack, type PackEngine } from './packs';
import { deviation, type GoldenPack, goldenPack, goldenPacks, readGolden } from './test/golden';
import { highsyncImages, latentsyncImages, musetalkImages } from './test/golden-clips';
import { misplacedReference, oneTimePerCall, testSessions } from './test/test-sessions';

/** Packs with golden numbers, in one folder or more: those in the repository, and others if a developer names them. */
const PARENTS = [join(__dirname, '../test-data/golden'), process.env['LIPSYNC_GOLDEN_PACKS']];
const PACKS = PARENTS.flatMap((parent) => (parent ? goldenPacks(parent) : []));

/** A mistake that the golden numbers must catch: its name, seconds added to the sound, and a change to the networks. */
type Mistake = readonly [name: string, longer: number, spoilt: (run: RunModel) => RunModel];
const OTHER_SOUND: Mistake = ['other sound', 0.1, (run) => run];
const MISPLACED: Mistake = ['banks or latents in each other’s place', 0, misplacedReference];
const ONE_TIME: Mistake = ['the time of an interval’s first step for all of it', 0, oneTimePerCall];

describe.each(PACKS)('$name', ({ name, folder, directory }) => {
  const sessions = testSessions();
  const mistakes = [
    OTHER_SOUND,
    ...(name.includes('highsync') ? [MISPLACED] : []),
    ...(name.includes('deep-cache') ? [ONE_TIME] : []),
  ];
  const clips = readdirSync(folder).filter((file) => /^golden.*\.json$/.test(file));
  let kept: GoldenPack;
  let pack: Pack;
  let run: RunModel;

  beforeAll(async () => {
    kept = goldenPack(directory);
    pack = await openPack(kept.directory);
    run = await sessions.load(pack);
  });
  afterAll(async () => {
    await sessions.close();
    kept.remove();
  });

  /** The crops of every frame, from the engine that the pack is for. */
  async function images(networks: RunModel, frames: number, seconds: number): Promise<Float32Array[]> {
    if (isFor('musetalk', pack)) return musetalkImages({ pack, run: networks }, frames, seconds);
    if (isFor('latentsync', pack)) return latentsyncImages({ pack, run: networks }, frames, seconds);
    if (isFor('highsync', pack)) return highsyncImages({ pack, run: networks }, frames, seconds);
    throw new TypeError('a pack without an engine');
  }

  describe.each(clips)('%s', (clip) => {
    const golden = readGolden(join(folder, clip));
    const [frames = 0] = golden.shape;
    const { seconds } = golden.inputs;

    test('the engine draws what upstream’s own code draws with the same networks', async () => {
      const drawn = await images(run, frames, seconds);
      expect(drawn).toHaveLength(frames);
      expect(deviation(drawn, golden)).toBeLessThan(golden.tolerance);
    });

    test.each(mistakes)('the golden numbers catch %s', async (_, longer, spoilt) => {
      const drawn = await images(spoilt(run), frames, seconds + longer);
      expect(deviation(drawn, golden)).toBeGreaterThan(2 * golden.tolerance);
    });
  });
});

function isFor<E extends PackEngine>(
  engine: E,
  pack: Pack,
): pack is Pack<Extract<Pack['manifest'], { engine: E }>> {
  return pack.manifest.engine === engine;
}
