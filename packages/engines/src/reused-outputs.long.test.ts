/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { createHighsync } from './highsync/engine';
import { createLatentsync } from './latentsync/engine';
import { type RunModel } from './model';
import { createMusetalk } from './musetalk/engine';
import { type Pack } from './packs';
import { clipInput, FORMAT, generate, memoryFeatures, pictureOf, trackOf, upTo } from './test/clips';
import { writeHighsyncPack } from './test/highsync-pack';
import { writeLatentsyncPack } from './test/latentsync-pack';
import { writePooledMusetalkPack } from './test/musetalk-pack';
import { reusingRuns, type TestPacks, testPacks } from './test/test-sessions';

/** A model whose outputs are newly allocated each time must give the same results. */
describe('the memory of graph outputs is reused, and never too early,', () => {
  const FRAMES = 40;
  const track = trackOf(FRAMES);
  const sources = upTo(FRAMES);
  let packs: TestPacks;

  beforeAll(async () => {
    packs = await testPacks();
  });
  afterAll(() => packs.close());
  const counted = async (pack: Pack) => {
    const run = await packs.load(pack);
    return { plain: run, ...reusingRuns(run) };
  };

  test('by musetalk from batch to batch that it encodes', async () => {
    const params = { batch: 4 };
    const pack = await writePooledMusetalkPack(packs.at('musetalk'), { parsing: 'one face', params });
    const { plain, run, runs, fresh } = await counted(pack);
    const kept = async (model: RunModel) => {
      const engine = createMusetalk(pack, model);
      const features = memoryFeatures(engine.features.values);
      const encoder = engine.openEncoder({ track, format: FORMAT, features });
      for (const source of sources) await encoder.add(pictureOf(source), source);
      await encoder.flush();
      return features.kept;
    };
    expect(await kept(run)).toEqual(await kept(plain));
    // Ten batches of four, each with and without its lower halves, both at once; two batches are in flight.
    expect(runs.get('vae_encoder')).toBe(20);
    expect(fresh.get('vae_encoder')).toBeLessThanOrEqual(4);
  }, 60_000);

  test('by latentsync from step to step and from window to window', async () => {
    const pack = await writeLatentsyncPack(packs.at('latentsync'));
    const { plain, run, runs, fresh } = await counted(pack);
    const images = async (model: RunModel) => {
      const clip = createLatentsync(pack, model).open(clipInput(track, sources).input);
      return generate(clip, sources);
    };
    expect(await images(run)).toEqual(await images(plain));
    expect(runs.get('unet3d')).toBe(24);
    // Two predictions at a time.
    expect(fresh.get('unet3d')).toBeLessThanOrEqual(2);
  });

  test('by latentsync from interval to interval', async () => {
    const pack = await writeLatentsyncPack(packs.at('intervals'), { interval: 2 });
    const { plain, run, runs, fresh } = await counted(pack);
    const images = async (model: RunModel) => {
      const clip = createLatentsync(pack, model).open(clipInput(track, sources).input);
      return generate(clip, sources);
    };
    expect(await images(run)).toEqual(await images(plain));
    expect(runs.get('unet3d')).toBe(6);
    // What an interval returns is what the next one is given.
    expect(fresh.get('unet3d')).toBeLessThanOrEqual(2);
  });

  test('by highsync from step to step and from window to window', async () => {
    const pack = await writeHighsyncPack(packs.at('highsync'));
    const { plain, run, runs, fresh } = await counted(pack);
    const images = async (model: RunModel) => {
      const clip = createHighsync(pack, model).open(clipInput(track, sources).input);
      const generated = await generate(clip, sources);
      await clip.close();
      return generated;
    };
    expect(await images(run)).toEqual(await images(plain));
    for (const role of ['denoising_unet', 'denoising_unet_unconditional']) {
      expect(runs.get(role)).toBe(20);
      // Two windows are in flight, each with its feeds and its outputs.
      expect(fresh.get(role)).toBeLessThanOrEqual(8);
    }
  });
});
