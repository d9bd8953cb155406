/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHighsync } from './highsync/engine';
import { createLatentsync } from './latentsync/engine';
import { type RunModel } from './model';
import { createMusetalk } from './musetalk/engine';
import { type Pack } from './packs';
import { buildBuiltinPacks } from './registry';
import * as highsyncClip from './test/clips';
import { writeHighsyncPack } from './test/highsync-pack';
import * as latentsyncClip from './test/latentsync-clip';
import { writeLatentsyncPack } from './test/latentsync-pack';
import { writePooledMusetalkPack } from './test/musetalk-pack';
import { reusingRuns, testSessions } from './test/test-sessions';

const { clipInput, FORMAT, memoryFeatures, pictureOf, trackOf } = highsyncClip;

/** A model whose outputs are newly allocated each time must give the same results. */
describe('the memory of graph outputs is reused, and never too early,', () => {
  const FRAMES = 40;
  const track = trackOf(FRAMES);
  const sources = Array.from({ length: FRAMES }, (_, i) => i);
  const sessions = testSessions();
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reused-outputs-'));
  });
  afterAll(async () => {
    await sessions.close();
    await rm(folder, { recursive: true, force: true });
  });
  const counted = async (pack: Pack) => {
    const run = await sessions.load(pack);
    return { plain: run, ...reusingRuns(run) };
  };

  test('by musetalk from face to face that it parses', async () => {
    await buildBuiltinPacks(join(folder, 'builtin'));
    const pack = await writePooledMusetalkPack(join(folder, 'musetalk'), join(folder, 'builtin'), {
      parsing: true,
      params: { batch: 4 },
    });
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
    expect(runs.get('face_parsing')).toBe(FRAMES);
    expect(fresh.get('face_parsing')).toBeLessThanOrEqual(2);
  }, 60_000);

  test('by latentsync from step to step and from window to window', async () => {
    const pack = await writeLatentsyncPack(join(folder, 'latentsync'));
    const { plain, run, runs, fresh } = await counted(pack);
    const images = async (model: RunModel) => {
      const clip = await createLatentsync(pack, model).open(clipInput(track, sources).input);
      return latentsyncClip.generate(clip, sources);
    };
    expect(await images(run)).toEqual(await images(plain));
    expect(runs.get('unet3d')).toBe(24);
    // Two predictions at a time, of windows of two lengths.
    expect(fresh.get('unet3d')).toBeLessThanOrEqual(4);
  });

  test('by highsync from step to step and from window to window', async () => {
    const pack = await writeHighsyncPack(join(folder, 'highsync'));
    const { plain, run, runs, fresh } = await counted(pack);
    const images = async (model: RunModel) => {
      const clip = await createHighsync(pack, model).open(clipInput(track, sources).input);
      const generated = await highsyncClip.generate(clip, FRAMES);
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
