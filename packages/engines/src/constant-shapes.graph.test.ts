/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { type ClipInput, type LipSyncEngine } from './engine';
import { createHighsync } from './highsync/engine';
import { createLatentsync } from './latentsync/engine';
import { type RunModel } from './model';
import { createMusetalk } from './musetalk/engine';
import {
  clipInput,
  clockOf,
  FORMAT,
  generate,
  memoryFeatures,
  type OpenClip,
  pictureOf,
  trackOf,
  upTo,
} from './test/clips';
import { writeHighsyncPack } from './test/highsync-pack';
import { writeLatentsyncPack } from './test/latentsync-pack';
import { writePooledMusetalkPack } from './test/musetalk-pack';
import { recordRuns, type TestPacks, testPacks } from './test/test-sessions';

/** An engine whose clips show the crops that they generate. */
interface OpenEngine extends LipSyncEngine {
  open(input: ClipInput): OpenClip;
}

describe('no graph is fed another shape than before, whatever shots, rate and known latents a clip has,', () => {
  /** The first frames of five shots: of one frame, of fewer than any network sees at once, and of more. */
  const cuts = Uint8Array.from(upTo(53), (frame) => ([0, 1, 6, 22, 45].includes(frame) ? 1 : 0));
  const track = { ...trackOf(cuts.length), cuts };
  const sources = upTo(cuts.length);
  let packs: TestPacks;

  beforeAll(async () => {
    packs = await testPacks();
  });
  afterAll(() => packs.close());

  /** Counts how often a graph is fed other shapes than the time before. */
  async function shapeChanges(create: (run: RunModel) => OpenEngine, run: RunModel): Promise<number> {
    const { run: recording, runs } = recordRuns(run);
    const engine = create(recording);
    const features = memoryFeatures(engine.features.values);
    const encoder = engine.openEncoder({ track, format: FORMAT, features });
    for (const source of upTo(20)) await encoder.add(pictureOf(source), source);
    await encoder.flush();
    for (const fps of [25, 50, 12]) {
      const parts = { features, clock: clockOf(sources, fps) };
      const clip = engine.open(clipInput(track, sources, parts).input);
      await generate(clip, sources);
      await clip.close();
    }
    const latest = new Map<string, string>();
    return runs.filter(({ role, feeds }) => {
      const shapes = JSON.stringify(Object.entries(feeds).map(([name, { dims }]) => [name, dims]));
      const before = latest.get(role) ?? shapes;
      latest.set(role, shapes);
      return shapes !== before;
    }).length;
  }

  test('by musetalk', async () => {
    const pack = await writePooledMusetalkPack(packs.at('musetalk'));
    expect(await shapeChanges((run) => createMusetalk(pack, run), await packs.load(pack))).toBe(0);
  });

  test('by latentsync', async () => {
    const pack = await writeLatentsyncPack(packs.at('latentsync'), { interval: 3, batch: 8 });
    expect(await shapeChanges((run) => createLatentsync(pack, run), await packs.load(pack))).toBe(0);
  });

  test('by highsync', async () => {
    const pack = await writeHighsyncPack(packs.at('highsync'));
    expect(await shapeChanges((run) => createHighsync(pack, run), await packs.load(pack))).toBe(0);
  });
});
