import { constantClock } from '@lipsync/domain';
import { MASK_SIZE } from '@lipsync/kernels';
import { type RunModel } from '../model';
import { type Pack } from '../packs';
import { clipInput, FORMAT, generate, memoryFeatures, pictureOf, trackOf, upTo } from '../test/clips';
import { LATENT, MASK, writeHighsyncPack } from '../test/highsync-pack';
import { type RecordedRun, recordRuns, type TestPacks, testPacks } from '../test/test-sessions';
import { createHighsync } from './engine';
import { highsyncFaces } from './faces';
import { type HighsyncManifest } from './manifest';
import { RECTANGLE_FEATHER } from './mask';

const LATENT_SIZE = LATENT.channels * LATENT.height * LATENT.width;

describe('a highsync clip', () => {
  let packs: TestPacks;
  let pack: Pack<HighsyncManifest>;
  let run: RunModel;

  beforeAll(async () => {
    packs = await testPacks();
    pack = await writeHighsyncPack(packs.at('pack'), { stretch: 24 });
    run = await packs.load(pack);
  });
  afterAll(() => packs.close());

  /** The same pack with a different stretch length, on which its graphs do not depend. */
  const withStretch = (stretch: number): Pack<HighsyncManifest> => ({
    ...pack,
    manifest: { ...pack.manifest, params: { ...pack.manifest.params, stretch } },
  });

  /** Renders all of `sources`; returns the pictures and the graph runs that they took. */
  async function render(
    sources: readonly number[],
    { stretch, bankBytes }: { stretch?: number; bankBytes?: number } = {},
  ) {
    const recorded = recordRuns(run);
    const { input, secondLooks } = clipInput(trackOf(Math.max(...sources) + 1), sources);
    const of = stretch === undefined ? pack : withStretch(stretch);
    const clip = createHighsync(of, recorded.run, bankBytes).open(input);
    const { images } = await generate(clip, sources);
    await clip.close();
    return { images, secondLooks, ...recorded };
  }

  const framesOf = (runs: readonly RecordedRun[], role: string): number =>
    runs
      .filter((recorded) => recorded.role === role)
      .reduce((sum, { feeds }) => sum + (feeds['latent']?.dims[0] ?? NaN), 0);

  describe('reference banks', () => {
    const bounce = [...upTo(20), ...upTo(19).reverse()];

    test('are computed once per source frame, however many steps, windows and turns show it', async () => {
      const { runs } = await render(bounce);
      expect(framesOf(runs, 'reference_unet')).toBe(20);
    });

    test('are recomputed where they do not fit in memory, as few as possible, with the same pictures', async () => {
      const roomy = await render(upTo(12));
      // 64 tokens of 48 values and a mean: room for five frames, of the twelve that each of four steps visits.
      const tight = await render(upTo(12), { bankBytes: 5 * (64 * 48 + 1) * 4 });
      const none = await render(upTo(12), { bankBytes: 0 });
      const frames = [roomy, tight, none].map(({ runs }) => framesOf(runs, 'reference_unet'));
      expect(frames).toEqual([12, 12 + 3 * 7, 4 * 12]);
      expect(tight.images).toEqual(roomy.images);
      expect(none.images).toEqual(roomy.images);
    });

    // Twelve frames and, over those before, four steps that are up to eleven frames apart.
    const UNDER_WAY = 12 + 4 * 11;
    const roomFor = (frames: number) => ({ bankBytes: frames * (64 * 48 + 1) * 4, stretch: 12 });

    test('of frames that are not shown again are dropped', async () => {
      // Frames 0–11 come back. There is room for them only if those after them are dropped when they have passed.
      const { runs } = await render([...upTo(150), ...upTo(12)], roomFor(UNDER_WAY + 12));
      expect(framesOf(runs, 'reference_unet')).toBe(150);
    });

    test('of frames already passed give way to those in use', async () => {
      // The first frames come back, but there is hardly room to keep them. Each of the others is computed only once.
      const { runs } = await render([...upTo(150), ...upTo(12)], roomFor(UNDER_WAY));
      expect(framesOf(runs, 'reference_unet')).toBeGreaterThan(150);
      expect(framesOf(runs, 'reference_unet')).toBeLessThanOrEqual(150 + 12);
    });
  });

  describe('windows', () => {
    const windows = (runs: readonly RecordedRun[]) => runs.filter(({ role }) => role === 'denoising_unet');

    test('equal windows of a step are computed once', async () => {
      // 20 frames: the first step has three windows, two of which see frames 8–19; the other steps have three each.
      const { runs, count } = await render(upTo(20));
      const starts = windows(runs).map(({ feeds }) => feeds['timestep']?.data[0]);
      expect(starts.filter((time) => time === 999n)).toHaveLength(2);
      expect(count('denoising_unet_unconditional')).toBe(count('denoising_unet'));
    });
  });

  test('every byte of a frame outside the feathered rectangle is unchanged', async () => {
    const track = trackOf(3);
    const clip = createHighsync(pack, run).open(clipInput(track, upTo(3)).input);
    const batch = clip.newBatch();
    const [before, frame] = [pictureOf(0), pictureOf(0)];
    expect(batch.take(frame, 0)).toBe(0);
    (await batch.infer()).put(0, frame);
    await clip.close();

    const [left = 0, top = 0, right = 0, bottom = 0] = highsyncFaces(track).crops;
    const reach = RECTANGLE_FEATHER + 1 / MASK_SIZE;
    const inside = (at: number, from: number, to: number, first: number, last: number): boolean => {
      const part = (at + 0.5 - from) / (to - from);
      return part > first / 8 - reach && part < (last + 1) / 8 + reach;
    };
    let changed = 0;
    for (let i = 0; i < FORMAT.width * FORMAT.height; i++) {
      if (frame[i] === before[i]) continue;
      changed++;
      expect(inside(i % FORMAT.width, left, right, MASK.left, MASK.right)).toBe(true);
      expect(inside(Math.floor(i / FORMAT.width), top, bottom, MASK.top, MASK.bottom)).toBe(true);
    }
    expect(changed).toBeGreaterThan(800);
  });

  describe('latents', () => {
    const values = LATENT_SIZE + 4;

    test('are kept for the next render, which does not read the video a second time', async () => {
      const features = memoryFeatures(values);
      const engine = createHighsync(pack, run);
      expect(engine.features.values).toBe(values);
      const first = clipInput(trackOf(30), upTo(30), { features });
      const clip = engine.open(first.input);
      const { images } = await generate(clip, upTo(30));
      await clip.close();
      expect(first.secondLooks()).toBe(1);
      expect([...features.kept.keys()].sort((a, b) => a - b)).toEqual(upTo(30));

      const recorded = recordRuns(run);
      const second = clipInput(trackOf(30), upTo(30), { features });
      const again = createHighsync(pack, recorded.run).open(second.input);
      expect((await generate(again, upTo(30))).images).toEqual(images);
      await again.close();
      expect(second.secondLooks()).toBe(0);
      expect(recorded.count('vae_encoder')).toBe(0);
    });

    test('made by a preparation equal those that a render makes', async () => {
      const prepared = memoryFeatures(values);
      const rendered = memoryFeatures(values);
      const engine = createHighsync(pack, run);
      const track = trackOf(20, [7]);
      const encoder = engine.openEncoder({ track, format: FORMAT, features: prepared });
      for (const source of upTo(20)) await encoder.add(pictureOf(source), source);
      await encoder.flush();
      const clip = engine.open(clipInput(track, upTo(20), { features: rendered }).input);
      await generate(clip, upTo(20));
      await clip.close();
      expect(new Map([...prepared.kept].sort())).toEqual(new Map([...rendered.kept].sort()));
      expect(prepared.kept.has(7)).toBe(false);
    });

    test('that a preparation makes are all that plain playback needs, at any rate', async () => {
      const features = memoryFeatures(values);
      const clock = constantClock({ num: 60, den: 1 }, 31);
      const [track, sources] = [{ ...trackOf(31), clock }, upTo(31)];
      const encoder = createHighsync(pack, run).openEncoder({ track, format: FORMAT, features });
      expect(sources.filter((source) => encoder.lacks(source))).toEqual(upTo(16).map((i) => 2 * i));
      for (const source of sources) await encoder.add(pictureOf(source), source);
      await encoder.flush();
      expect(sources.filter((source) => encoder.lacks(source))).toEqual([]);
      const { input, secondLooks } = clipInput(track, sources, { clock, features });
      const clip = createHighsync(pack, run).open(input);
      await generate(clip, sources);
      await clip.close();
      expect([secondLooks(), features.kept.size]).toEqual([0, 16]);
    });

    test('of a different crop are recomputed', async () => {
      const features = memoryFeatures(values);
      const engine = createHighsync(pack, run);
      const input = () => clipInput(trackOf(12), upTo(12), { features });
      const clip = engine.open(input().input);
      const { images } = await generate(clip, upTo(12));
      await clip.close();
      const stale = features.kept.get(4);
      if (!stale) throw new Error('a latent was kept');
      stale.fill(0, 0, LATENT_SIZE);
      stale[LATENT_SIZE] = (stale[LATENT_SIZE] ?? 0) + 1;
      const { input: next, secondLooks } = input();
      const again = engine.open(next);
      expect((await generate(again, upTo(12))).images).toEqual(images);
      await again.close();
      expect(secondLooks()).toBe(1);
    });
  });
});
