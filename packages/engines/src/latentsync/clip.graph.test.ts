import { constantClock } from '@lipsync/domain';
import { type FaceBatch, type FrameFeatures, isWorthKeeping } from '../engine';
import { type FaceTrack } from '../face/face-track';
import { type RunModel } from '../model';
import { type Pack } from '../packs';
import { clipInput, FORMAT, generate, memoryFeatures, pictureOf, trackOf, upTo } from '../test/clips';
import { SIDE, STEPS } from '../test/highsync-pack';
import { MASK, writeLatentsyncPack } from '../test/latentsync-pack';
import { type RecordedRun, recordRuns, reusingRuns, type TestPacks, testPacks } from '../test/test-sessions';
import { createLatentsync } from './engine';
import { latentLayout } from './face-window';
import { alignedFaces, transformAt } from './faces';
import { type LatentsyncManifest } from './manifest';
import { inpaintMask } from './mask';

const missing = (): never => {
  throw new Error('there is a face');
};

describe('a latentsync clip', () => {
  let packs: TestPacks;
  let pack: Pack<LatentsyncManifest>;
  let run: RunModel;

  beforeAll(async () => {
    packs = await testPacks();
    pack = await writeLatentsyncPack(packs.at('pack'));
    run = await packs.load(pack);
  });
  afterAll(() => packs.close());

  /** Generates all faces of `sources`; returns them with their windows and the graph runs that they took. */
  async function render(
    track: FaceTrack,
    sources: readonly number[],
    parts: Parameters<typeof clipInput>[2] = {},
  ) {
    const recorded = recordRuns(run);
    const clip = createLatentsync(pack, recorded.run).open(clipInput(track, sources, parts).input);
    const generated = await generate(clip, sources);
    await clip.close();
    return { ...generated, ...recorded };
  }

  /** The output frames that the network hears in each of its windows: it is fed the steps of 20 ms around them. */
  const heardIn = (runs: readonly RecordedRun[]): number[][] => {
    const heard = runs.flatMap(({ role, feeds: { audio } }) => {
      if (role !== 'unet3d' || audio?.type !== 'float32' || audio.data.every((value) => value === 0))
        return [];
      const size = audio.data.length / 16;
      return [upTo(16).map((frame) => Math.floor(((audio.data[(frame + 0.5) * size] ?? NaN) * STEPS) / 2))];
    });
    // The same in each of four steps.
    return heard.filter((_, call) => call % 4 === 0);
  };
  const from = (first: number, count: number): number[] => upTo(count).map((i) => first + i);

  describe('windows', () => {
    test('hold 16 frames; the last one reaches back over those that are done', async () => {
      const { batches, runs } = await render(trackOf(37), upTo(37));
      expect(batches).toEqual([16, 16, 5]);
      expect(heardIn(runs)).toEqual([from(0, 16), from(16, 16), from(21, 16)]);
    });

    test('are filled with frames of their own shot alone, back and forth if it has fewer', async () => {
      const cuts = Uint8Array.from(upTo(22), (i) => (i === 16 || i === 21 ? 1 : 0));
      const { runs } = await render({ ...trackOf(22), cuts }, upTo(22));
      const [first, ...short] = heardIn(runs);
      expect(first).toEqual(from(0, 16));
      expect(short).toEqual([
        [19, 18, 17, 16, 17, 18, 19, 20, 19, 18, 17, 16, 17, 18, 19, 20],
        Array<number>(16).fill(21),
      ]);
    });

    test('leave the faces of earlier ones as they are', async () => {
      const [part, whole] = [await render(trackOf(32), upTo(32)), await render(trackOf(35), upTo(35))];
      // What the last four hear is not the same: the sound ends with the video.
      expect(whole.images.slice(0, 28)).toEqual(part.images.slice(0, 28));
      // 16 frames at a time, and the three that are left.
      expect(whole.count('vae_decoder')).toBe(35);
    });

    test('end where the face is lost, at a cut and where a loop restarts; a reversal does not end one', async () => {
      expect((await render(trackOf(20, [6, 7]), upTo(20))).batches).toEqual([6, 12]);
      const cut = { ...trackOf(20), cuts: Uint8Array.from(upTo(20), (i) => (i === 9 ? 1 : 0)) };
      expect((await render(cut, upTo(20))).batches).toEqual([9, 11]);
      expect((await render(trackOf(10), [...upTo(10), ...upTo(10)])).batches).toEqual([10, 10]);
      expect((await render(trackOf(8), [...upTo(8), ...upTo(7).reverse()])).batches).toEqual([15]);
      expect((await render(trackOf(8), [...upTo(8), 7, 7, 7])).batches).toEqual([11]);
    });

    test('give the same result two at a time as one at a time', async () => {
      const track = trackOf(12);
      const clip = createLatentsync(pack, run).open(clipInput(track, upTo(12)).input);
      const batchOf = (outputs: readonly number[]) => {
        const batch = clip.newBatch();
        for (const output of outputs) batch.take(pictureOf(output), output);
        return batch;
      };
      const paste = async (batch: FaceBatch) => {
        const [faces, frame] = [await batch.infer(), pictureOf(0)];
        faces.put(2, frame);
        return frame;
      };
      const together = await Promise.all([paste(batchOf(upTo(6))), paste(batchOf([6, 7, 8, 9]))]);
      expect(together).toEqual([await paste(batchOf(upTo(6))), await paste(batchOf([6, 7, 8, 9]))]);
    });

    test('refuse another face when full', async () => {
      const clip = createLatentsync(pack, run).open(clipInput(trackOf(20), upTo(20)).input);
      const batch = clip.newBatch();
      for (let i = 0; i < 16; i++) batch.take(pictureOf(i), i);
      expect(() => batch.take(pictureOf(16), 16)).toThrow(RangeError);
    });
  });

  describe('frames', () => {
    test('without a face pass unchanged, also between faces', async () => {
      const clip = createLatentsync(pack, run).open(clipInput(trackOf(5, [1]), upTo(5)).input);
      const frame = pictureOf(1);
      expect(clip.newBatch().take(frame, 1)).toBeNull();
      expect(frame).toEqual(pictureOf(1));
    });

    test('change only under the mask, whatever the network draws elsewhere', async () => {
      const track = trackOf(4);
      const clip = createLatentsync(pack, run).open(clipInput(track, upTo(4)).input);
      const batch = clip.newBatch();
      batch.take(pictureOf(2), 2);
      const frame = pictureOf(2);
      (await batch.infer()).put(0, frame);

      const { a, b, c, d, e, f } = transformAt(alignedFaces(track, SIDE), 2) ?? missing();
      const inpaint = inpaintMask(MASK, SIDE);
      const generated = (x: number, y: number): boolean => {
        const [u, v] = [Math.floor(a * x + b * y + c), Math.floor(d * x + e * y + f)];
        return [-1, 0, 1].some((dv) => [-1, 0, 1].some((du) => (inpaint[(v + dv) * SIDE + u + du] ?? 0) > 0));
      };
      let changed = 0;
      const strays: string[] = [];
      pictureOf(2).forEach((old, i) => {
        if (i >= FORMAT.width * FORMAT.height || frame[i] === old) return;
        const [x, y] = [(i % FORMAT.width) + 0.5, Math.floor(i / FORMAT.width) + 0.5];
        changed++;
        if (!generated(x, y)) strays.push(`${x},${y}`);
      });
      expect(strays).toEqual([]);
      expect(changed).toBeGreaterThan(300);
    });
  });

  describe('latents of source frames', () => {
    const layout = () => createLatentsync(pack, run).features;

    test('are kept, and a second render does not run the encoder and draws the same', async () => {
      const features = memoryFeatures(layout().values);
      const first = await render(trackOf(20), upTo(20), { features });
      expect(first.count('vae_encoder')).toBe(40);
      expect([...features.kept.keys()]).toEqual(upTo(20));
      const second = await render(trackOf(20), upTo(20), { features });
      expect(second.count('vae_encoder')).toBe(0);
      expect(second.images).toEqual(first.images);
    });

    test('need the memory of two windows, however long the clip, where they are computed and where they are stored', async () => {
      const frames = 96;
      const { kept, ...features } = memoryFeatures(layout().values);
      const used = new Set<Float32Array>();
      const watched: FrameFeatures = {
        has: (source) => features.has(source),
        read(source, target, offset) {
          used.add(target);
          features.read(source, target, offset);
        },
        write(source, values, offset) {
          used.add(values);
          features.write(source, values, offset);
        },
      };
      const arrays: number[] = [];
      for (const known of [0, frames]) {
        expect(kept.size).toBe(known);
        used.clear();
        const { input } = clipInput(trackOf(frames), upTo(frames), { features: watched });
        const clip = createLatentsync(pack, reusingRuns(run).run).open(input);
        await generate(clip, upTo(frames));
        arrays.push(used.size);
      }
      const [made = NaN, read = NaN] = arrays;
      // The encoder's output for a face is as long as its latents: two faces at a time, each whole and masked.
      expect(made).toBeLessThanOrEqual(2 * 16 + 4);
      expect(read).toBeLessThanOrEqual(2 * 16);
    });

    test('pass the autoencoder in full batches if the pack says so, and are the same', async () => {
      const batched = await writeLatentsyncPack(packs.at('batched'), { batch: 8 });
      const { run: recording, runs, count } = recordRuns(await packs.load(batched));
      const engine = createLatentsync(batched, recording);
      const prepared = memoryFeatures(layout().values);
      const encoder = engine.openEncoder({ track: trackOf(6), format: FORMAT, features: prepared });
      for (const source of upTo(6)) await encoder.add(pictureOf(source), source);
      await encoder.flush();
      // Two pictures of a face: of four faces, and of the two that are left.
      expect(count('vae_encoder')).toBe(2);
      const clip = engine.open(clipInput(trackOf(21), upTo(21)).input);
      const { images } = await generate(clip, upTo(21));
      expect(count('vae_encoder')).toBe(2 + 4 + 2);
      expect(count('vae_decoder')).toBe(2 + 1);
      const pictures = runs.flatMap(({ role, feeds: { image, latent } }) =>
        role === 'unet3d' ? [] : [image, latent].flatMap((tensor) => tensor?.dims[0] ?? []),
      );
      expect(new Set(pictures)).toEqual(new Set([8]));

      const features = memoryFeatures(layout().values);
      const alone = await render(trackOf(21), upTo(21), { features });
      expect(images).toEqual(alone.images);
      expect([...prepared.kept]).toEqual([...features.kept].slice(0, 6));
    });

    test('are the same when a preparation makes them', async () => {
      const rendered = memoryFeatures(layout().values);
      await render(trackOf(6, [3]), upTo(6), { features: rendered });
      const prepared = memoryFeatures(layout().values);
      const encoder = createLatentsync(pack, run).openEncoder({
        track: trackOf(6, [3]),
        format: FORMAT,
        features: prepared,
      });
      // One reused buffer for all frames, like the decoder's.
      const frame = pictureOf(0);
      for (const source of upTo(6)) {
        frame.set(pictureOf(source));
        await encoder.add(frame, source);
      }
      await encoder.flush();
      expect(prepared.kept).toEqual(rendered.kept);
    });

    test('that a preparation makes are all that plain playback needs, at any rate', async () => {
      const features = memoryFeatures(layout().values);
      const clock = constantClock({ num: 60, den: 1 }, 31);
      const [track, sources] = [{ ...trackOf(31), clock }, upTo(31)];
      const encoder = createLatentsync(pack, run).openEncoder({ track, format: FORMAT, features });
      for (const source of sources) await encoder.add(pictureOf(source), source);
      await encoder.flush();
      expect([...features.kept.keys()]).toEqual(upTo(16).map((i) => 2 * i));
      expect(sources.filter((source) => encoder.lacks(source))).toEqual([]);
      const { count } = await render(track, sources, { clock, features });
      expect(count('vae_encoder')).toBe(0);
    });

    test('are kept for the published packs, except those too large to be worth fetching', () => {
      const layout = (channels: number, cells: number) =>
        latentLayout({ channels, height: cells, width: cells, scale: 1 });
      const layouts = [layout(4, 32), layout(4, 64), layout(12, 128)];
      expect(layouts.map(({ values }) => values)).toEqual([8192, 32_768, 393_216]);
      expect(layouts.map(isWorthKeeping)).toEqual([true, true, false]);
    });
  });

  test('faces report their enlargement: picture pixels per crop pixel, in the wider direction', async () => {
    const track = trackOf(3);
    const clip = createLatentsync(pack, run).open(clipInput(track, upTo(3)).input);
    const { a, b, d, e } = transformAt(alignedFaces(track, SIDE), 1) ?? missing();
    const enlargement = clip.enlargement(1);
    expect(enlargement).toBeCloseTo(1 / Math.hypot(d, e), 6);
    expect(enlargement).toBeGreaterThan(1 / Math.hypot(a, b));
    await clip.close();
  });

  test('an abandoned clip stops between two steps', async () => {
    const giveUp = new AbortController();
    const recorded = recordRuns(run, async (role, earlier) => {
      if (role === 'unet3d' && earlier === 2) giveUp.abort(new Error('enough'));
    });
    const { input } = clipInput(trackOf(16), upTo(16), { signal: giveUp.signal });
    const clip = createLatentsync(pack, recorded.run).open(input);
    await expect(generate(clip, upTo(16))).rejects.toThrow('enough');
    expect(recorded.count('unet3d')).toBe(3);
    expect(recorded.count('vae_decoder')).toBe(0);
  });

  test('a failing graph fails the clip, and leaves nothing running', async () => {
    const recorded = recordRuns(run, async (role, earlier) => {
      if (role === 'vae_encoder' && earlier >= 5) throw new Error('no memory');
    });
    const clip = createLatentsync(pack, recorded.run).open(clipInput(trackOf(16), upTo(16)).input);
    await expect(generate(clip, upTo(16))).rejects.toThrow('no memory');
    const runs = recorded.runs.length;
    await new Promise(setImmediate);
    expect(recorded.runs).toHaveLength(runs);
  });
});
