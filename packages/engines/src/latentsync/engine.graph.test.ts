import { constantClock } from '@lipsync/domain';
import { createInBetween } from '../in-between';
import { type RunModel } from '../model';
import { type Pack } from '../packs';
import { clipInput, generate, trackOf, upTo } from '../test/clips';
import { deviationFrom, expectedLatentsync, withInBetweens } from '../test/expected-images';
import { SIDE } from '../test/highsync-pack';
import { type LatentsyncPackChanges, writeLatentsyncPack } from '../test/latentsync-pack';
import { recordRuns, type TestPacks, testPacks } from '../test/test-sessions';
import { createLatentsync } from './engine';
import { type LatentsyncManifest } from './manifest';
import { boundsOf, inpaintMask, softMask } from './mask';

describe('latentsync on a network that knows the answer', () => {
  let packs: TestPacks;
  beforeAll(async () => {
    packs = await testPacks();
  });
  afterAll(() => packs.close());

  async function packOf(
    changes: LatentsyncPackChanges = {},
  ): Promise<{ pack: Pack<LatentsyncManifest>; run: RunModel }> {
    const name = JSON.stringify(changes).replace(/\W/g, '-').slice(0, 80);
    const pack = await writeLatentsyncPack(packs.at(name), changes);
    return { pack, run: await packs.load(pack) };
  }

  /** Renders the clip and compares every crop with the network's target. */
  async function expectTargets(
    { pack, run }: Awaited<ReturnType<typeof packOf>>,
    sources: readonly number[],
    options: { landmarks?: boolean } = {},
  ): Promise<void> {
    const track = trackOf(Math.max(...sources) + 1);
    const clip = createLatentsync(pack, run).open(clipInput(track, sources).input);
    const { images } = await generate(clip, sources);
    await clip.close();
    for (const [output, image] of images.entries()) {
      const target = expectedLatentsync(track, sources, output, pack.manifest.params, options);
      expect(deviationFrom(target, image)).toBeLessThan(2e-5);
    }
  }

  test.each([4, 10, 20])(
    '%i steps end at the target to float precision, in runs of any length',
    async (steps) => {
      const pack = await packOf({ schedule: { steps } });
      for (const frames of [1, 7, 16, 20]) await expectTargets(pack, upTo(frames));
    },
  );

  test('the published schedule leaves its final share of one noise image common to all frames', async () => {
    const pack = await packOf({ schedule: { finalAlpha: 'first' } });
    await expectTargets(pack, upTo(20));
  });

  test.each([
    ['twice each', 1.5, 2],
    ['without guidance once each', 1, 1],
  ])(
    'a distilled pack runs its network at exactly the timesteps that it lists, %s',
    async (_, guidance, runs) => {
      const steps = [951, 701, 401, 151];
      const packed = await packOf({ schedule: { steps }, guidance });
      const recorded = recordRuns(packed.run);
      await expectTargets({ ...packed, run: recorded.run }, upTo(3));
      const times = recorded.runs.flatMap(({ feeds }) =>
        feeds['timestep']?.type === 'int64' ? [...feeds['timestep'].data].map(Number) : [],
      );
      expect(times).toEqual(steps.flatMap((time) => Array<number>(runs).fill(time)));
    },
  );

  test('a network that predicts both conditions of guidance runs once per step', async () => {
    const packed = await packOf({ conditions: 2 });
    const recorded = recordRuns(packed.run);
    await expectTargets({ ...packed, run: recorded.run }, upTo(5));
    expect(recorded.count('unet3d')).toBe(4);
  });

  test('a network that does not take landmarks gets none', async () => {
    const packed = await packOf({ landmarks: false });
    const recorded = recordRuns(packed.run);
    await expectTargets({ ...packed, run: recorded.run }, upTo(3), { landmarks: false });
    expect(recorded.runs.some(({ feeds }) => 'landmarks' in feeds)).toBe(false);
  });

  describe('at another rate than the network’s', () => {
    /** Generates a clip of this many frames a second; returns its crops and their targets. */
    async function clipAt(fps: number, frames: number) {
      const { pack, run } = await packOf();
      const recorded = recordRuns(run);
      const clock = constantClock({ num: fps, den: 1 }, frames);
      const [track, sources] = [trackOf(frames), upTo(frames)];
      const clip = createLatentsync(pack, recorded.run).open(clipInput(track, sources, { clock }).input);
      const { images } = await generate(clip, sources);
      await clip.close();
      const { params } = pack.manifest;
      const targets = sources.map((output) => expectedLatentsync(track, sources, output, params, { clock }));
      const shown = boundsOf(softMask(inpaintMask(params.mask, SIDE), SIDE), SIDE);
      return { images, targets, inBetween: createInBetween(SIDE, shown), ...recorded };
    }

    test('twice as fast, every second face is generated and the others are drawn between, also between two windows', async () => {
      const { images, targets, inBetween, count } = await clipAt(50, 42);
      const isGenerated = (output: number): boolean => output % 2 === 0 || output === 41;
      const expected = withInBetweens(targets, isGenerated, inBetween);
      for (const [output, image] of images.entries()) {
        const deviation = deviationFrom(expected[output] ?? new Float32Array(1), image);
        expect(deviation).toBeLessThan(isGenerated(output) ? 2e-5 : 2e-3);
      }
      // Two windows of faces, in four steps with and without sound.
      expect(count('unet3d')).toBe(2 * 8);
      expect(count('vae_decoder')).toBe(22);
    });

    test('half as fast, the network sees twice as many, and what nobody sees is not decoded', async () => {
      const { images, targets, count } = await clipAt(12, 20);
      for (const [output, image] of images.entries())
        expect(deviationFrom(targets[output] ?? new Float32Array(1), image)).toBeLessThan(2e-5);
      expect(count('unet3d')).toBe(3 * 8);
      expect(count('vae_decoder')).toBe(20);
    });
  });

  describe('a network that takes several steps in a call', () => {
    /** Renders so many frames; returns the times and coefficients of every call. */
    async function callsOf(changes: LatentsyncPackChanges, frames: number) {
      const packed = await packOf({ interval: 3, ...changes });
      const recorded = recordRuns(packed.run);
      await expectTargets({ ...packed, run: recorded.run }, upTo(frames));
      return recorded.runs
        .filter(({ role }) => role === 'unet3d')
        .map(({ feeds: { timestep, coefficients } }) => ({
          times: Array.from(timestep?.data ?? [], Number),
          coefficients: [...(coefficients?.type === 'float32' ? coefficients.data : [])],
        }));
    }

    test('reaches the target, and fills its last call with steps that change nothing', async () => {
      const calls = await callsOf({ schedule: { steps: 5 } }, 20);
      const window = [
        [801, 601, 401],
        [201, 1, 1],
      ];
      expect(calls.map(({ times }) => times)).toEqual([...window, ...window]);
      expect(calls[1]?.coefficients.slice(6)).toEqual([1, 0, 0]);
    });

    test('takes the strength of guidance as data', async () => {
      const strengthOf = async (guidance: number) => {
        const [, unheard = NaN, heard = NaN] = (await callsOf({ guidance }, 1))[0]?.coefficients ?? [];
        return heard / (heard + unheard);
      };
      expect(await strengthOf(1.5)).toBeCloseTo(1.5, 5);
      expect(await strengthOf(3)).toBeCloseTo(3, 5);
    });

    test('has one condition without guidance', async () => {
      const calls = await callsOf({ guidance: 1 }, 5);
      expect(calls.map(({ coefficients }) => coefficients.length)).toEqual([6, 6]);
    });

    test('draws what one draws that predicts every step', async () => {
      const imagesOf = async (changes: LatentsyncPackChanges) => {
        const { pack, run } = await packOf({ ...changes, schedule: { finalAlpha: 'first', steps: 4 } });
        const clip = createLatentsync(pack, run).open(clipInput(trackOf(5), upTo(5)).input);
        const { images } = await generate(clip, upTo(5));
        await clip.close();
        return images;
      };
      const predicted = await imagesOf({});
      for (const [i, image] of (await imagesOf({ interval: 3 })).entries())
        expect(deviationFrom(predicted[i] ?? new Float32Array(1), image)).toBeLessThan(2e-6);
    });
  });

  test('a mask of a different size than the crop is resized, borders included', async () => {
    const spans = Array.from({ length: 24 }, (_, i): [number, number, number] => [34 + i, 8, 55]);
    await expectTargets(await packOf({ mask: { size: 64, spans } }), upTo(3));
  });

  test('a bounce shows every frame with the sound of its own moment', async () => {
    await expectTargets(await packOf(), [0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 2]);
  });
});
