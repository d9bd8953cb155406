/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openPack, type Pack, type PackEngine } from '@lipsync/model-pack';
import { highsyncImages, latentsyncImages, musetalkImages } from '../../test/golden-clips';
import { deviation, readGolden } from '../../test/golden-pictures';
import { inProcessSessions } from '../../test/in-process-sessions';
import { loadPack } from '../packs/load-pack';
import { type RunModel } from '../packs/run-model';

/** Packs with golden numbers: those that are kept with the sources, and more where a developer says so. */
const PARENTS = [join(__dirname, '../../../test-data/golden'), process.env['LIPSYNC_GOLDEN_PACKS']];
const FOLDERS = PARENTS.flatMap((parent) =>
  (parent ? readdirSync(parent, { withFileTypes: true }) : []).flatMap((entry) =>
    entry.isDirectory() ? [[entry.name, join(entry.parentPath, entry.name)] as const] : [],
  ),
);

describe.each(FOLDERS)('%s', (_, folder) => {
  const sessions = inProcessSessions();
  const clips = readdirSync(folder).filter((name) => /^golden.*\.json$/.test(name));
  let pack: Pack;
  let run: RunModel;

  beforeAll(async () => {
    pack = await openPack(join(folder, 'pack'));
    // With probes: every graph computes what torch did.
    ({ run } = await loadPack(sessions, pack, { threads: 1, probe: true }));
  });
  afterAll(() => sessions.close());

  /** The crops of every frame, by the engine that the pack is for. */
  async function images(frames: number, seconds: number): Promise<Float32Array[]> {
    if (isFor('musetalk', pack)) return musetalkImages({ pack, run }, frames, seconds);
    if (isFor('latentsync', pack)) return latentsyncImages({ pack, run }, frames, seconds);
    if (isFor('highsync', pack)) return highsyncImages({ pack, run }, frames, seconds);
    throw new TypeError('a pack without an engine');
  }

  describe.each(clips)('%s', (clip) => {
    const golden = readGolden(join(folder, clip));
    const [frames = 0] = golden.shape;
    const { seconds } = golden.inputs;

    test('the engine draws what upstream’s own code draws with the same networks', async () => {
      const drawn = await images(frames, seconds);
      expect(drawn).toHaveLength(frames);
      expect(deviation(drawn, golden)).toBeLessThan(golden.tolerance);
    });

    test('the golden numbers would notice other sound', async () => {
      expect(deviation(await images(frames, seconds + 0.1), golden)).toBeGreaterThan(2 * golden.tolerance);
    });
  });
});

function isFor<E extends PackEngine>(
  engine: E,
  pack: Pack,
): pack is Pack<Extract<Pack['manifest'], { engine: E }>> {
  return pack.manifest.engine === engine;
}
