import { constantClock } from '@lipsync/domain';
import { createInBetween } from '../in-between';
import { type RunModel } from '../model';
import { type Pack } from '../packs';
import { clipInput, generate, trackOf, upTo } from '../test/clips';
import { deviationFrom, expectedHighsync, withInBetweens } from '../test/expected-images';
import { LATENT, MASK, SIDE, writeHighsyncPack } from '../test/highsync-pack';
import { recordRuns, type TestPacks, testPacks } from '../test/test-sessions';
import { createHighsync } from './engine';
import { highsyncFaces } from './faces';
import { type HighsyncManifest } from './manifest';
import { blendedPart } from './mask';

describe('highsync on networks that know the answer', () => {
  let packs: TestPacks;
  beforeAll(async () => {
    packs = await testPacks();
  });
  afterAll(() => packs.close());

  async function packOf(
    changes: Parameters<typeof writeHighsyncPack>[1] = {},
  ): Promise<{ pack: Pack<HighsyncManifest>; run: RunModel }> {
    const pack = await writeHighsyncPack(packs.at(JSON.stringify(changes).replace(/\W/g, '-')), changes);
    return { pack, run: await packs.load(pack) };
  }

  async function expectTargets(
    { pack, run }: Awaited<ReturnType<typeof packOf>>,
    sources: readonly number[],
    faceless: readonly number[] = [],
  ): Promise<void> {
    const track = trackOf(Math.max(...sources) + 1, faceless);
    const clip = createHighsync(pack, run).open(clipInput(track, sources).input);
    const { images } = await generate(clip, sources);
    await clip.close();
    const expected = await expectedHighsync(run, track, sources);
    for (const [output, image] of images.entries()) {
      if (faceless.includes(sources[output] ?? -1)) {
        expect(image).toBeNull();
        continue;
      }
      expect(deviationFrom(expected[output] ?? new Float32Array(1), image)).toBeLessThan(2e-5);
    }
  }

  test.each([4, 10, 20])(
    '%i steps end at the target to float precision, for runs of any length',
    async (steps) => {
      const pack = await packOf({ steps });
      for (const frames of [1, 5, 12, 20, 30]) await expectTargets(pack, upTo(frames));
    },
  );

  test('a run longer than a stretch ends at the target everywhere', async () => {
    await expectTargets(await packOf({ stretch: 14 }), upTo(40));
  });

  test.each([
    ['twice as fast, every second face is generated and the others are drawn between', 50, 31],
    ['half as fast, the network sees twice as many', 12, 20],
  ])('at another rate than the network’s, %s', async (_, fps, frames) => {
    const { pack, run } = await packOf({ stretch: 14 });
    const recorded = recordRuns(run);
    const clock = constantClock({ num: fps, den: 1 }, frames);
    const [track, sources] = [trackOf(frames), upTo(frames)];
    const clip = createHighsync(pack, recorded.run).open(clipInput(track, sources, { clock }).input);
    const { images } = await generate(clip, sources);
    await clip.close();
    const isGenerated = (output: number): boolean => fps < 25 || output % 2 === 0;
    const inBetween = createInBetween(SIDE, blendedPart(MASK, LATENT, SIDE));
    const expected = await expectedHighsync(run, track, sources, clock);
    const targets = withInBetweens(expected, isGenerated, inBetween);
    for (const [output, image] of images.entries()) {
      const deviation = deviationFrom(targets[output] ?? new Float32Array(1), image);
      expect(deviation).toBeLessThan(isGenerated(output) ? 2e-5 : 2e-3);
    }
    const generated = sources.filter(isGenerated).length;
    expect([recorded.count('vae_encoder'), recorded.count('vae_decoder')]).toEqual([generated, generated]);
  });

  test('frames without a face are left out, and do not shift the frames after them', async () => {
    await expectTargets(await packOf(), upTo(30), [13, 14]);
  });

  test('held, skipped and repeated source frames end at the target of their position in the output', async () => {
    await expectTargets(await packOf(), [0, 1, 2, 2, 2, 5, 8, 9, 8, 7, 6, 0, 1, 2, 3, 4, 5]);
  });

  test('without guidance the network runs once per window, and also ends at the target', async () => {
    const pack = await packOf({ guidance: 1 });
    const recorded = recordRuns(pack.run);
    await expectTargets({ pack: pack.pack, run: recorded.run }, upTo(20));
    expect(recorded.count('denoising_unet')).toBeGreaterThan(0);
    expect(recorded.count('denoising_unet_unconditional')).toBe(0);
  });

  test('with an interval of guidance the network runs twice inside of it, and once outside', async () => {
    const { pack, run } = await packOf({ guidanceInterval: { low: 0.5, high: 3 } });
    const recorded = recordRuns(run);
    await expectTargets({ pack, run: recorded.run }, upTo(5));
    const times = (wanted: string) =>
      recorded.runs.flatMap(({ role, feeds }) => (role === wanted ? Number(feeds['timestep']?.data[0]) : []));
    expect(times('denoising_unet')).toEqual([999, 749, 499, 249]);
    // Noise levels of 2.45 and 0.89.
    expect(times('denoising_unet_unconditional')).toEqual([499, 249]);
  });

  test('every latent is encoded and every face decoded once', async () => {
    const pack = await packOf({ stretch: 14 });
    const recorded = recordRuns(pack.run);
    const clip = createHighsync(pack.pack, recorded.run).open(clipInput(trackOf(40), upTo(40)).input);
    await generate(clip, upTo(40));
    await clip.close();
    expect([recorded.count('vae_encoder'), recorded.count('vae_decoder')]).toEqual([40, 40]);
  });

  test('cancelling stops between windows: running ones are awaited, nothing further is started', async () => {
    const { pack, run } = await packOf();
    const cancel = new AbortController();
    const recorded = recordRuns(run, async (role, earlier) => {
      if (role === 'denoising_unet' && earlier === 3) cancel.abort(new Error('cancelled'));
    });
    const clip = createHighsync(pack, recorded.run).open(
      clipInput(trackOf(40), upTo(40), { signal: cancel.signal }).input,
    );
    await expect(generate(clip, upTo(40))).rejects.toThrow('cancelled');
    const runs = recorded.runs.length;
    await clip.close();
    expect(recorded.runs).toHaveLength(runs);
    // Window 3 was running, and at most one more.
    expect(recorded.count('denoising_unet')).toBeLessThanOrEqual(5);
  });

  test('a failing network fails the clip, and closing the clip does not hang', async () => {
    const { pack, run } = await packOf();
    const recorded = recordRuns(run, async (role, earlier) => {
      if (role === 'reference_unet' && earlier === 1) throw new Error('out of memory');
    });
    const clip = createHighsync(pack, recorded.run).open(clipInput(trackOf(40), upTo(40)).input);
    await expect(generate(clip, upTo(40))).rejects.toThrow('out of memory');
    await clip.close();
  });

  test('a batch takes as many faces as it has room for, and no frame without one', async () => {
    const { pack, run } = await packOf({ stretch: 12 });
    const clip = createHighsync(pack, run).open(clipInput(trackOf(19, [18]), upTo(19)).input);
    const frame = new Uint8Array(0);
    const batch = clip.newBatch();
    for (const output of [0, 1, 2, 3]) expect(batch.take(frame, output)).toBe(output);
    expect(() => batch.take(frame, 4)).toThrow(RangeError);
    expect(batch.take(frame, 18)).toBeNull();
    await clip.close();
  });

  test('faces report their enlargement: the longer side of the crop over the generated side', async () => {
    const { pack, run } = await packOf();
    const track = trackOf(12);
    const clip = createHighsync(pack, run).open(clipInput(track, upTo(12)).input);
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = highsyncFaces(track).crops.subarray(5 * 4);
    expect(clip.enlargement(5)).toBeCloseTo(Math.max(x2 - x1, y2 - y1) / pack.manifest.params.resolution, 6);
    expect(clip.enlargement(5)).toBeGreaterThan(0.5);
    await clip.close();
  });
});
