import { setImmediate as ticks } from 'node:timers/promises';
import { pictureLayout } from '@lipsync/kernels';
import { type FaceBatch } from '../engine';
import { type RunModel } from '../model';
import { type Pack } from '../packs';
import { onceSeenClip, syntheticTrack } from '../test/clips';
import { writePooledMusetalkPack } from '../test/musetalk-pack';
import { type TestPacks, testPacks } from '../test/test-sessions';
import { createMusetalk } from './engine';
import { type MusetalkManifest } from './manifest';

const format = {
  width: 160,
  height: 160,
  matrix: 'bt709',
  range: 'full',
  depth: 8,
  transfer: 'sdr',
} as const;
const SOURCES = [0, 1];
const track = syntheticTrack({
  frames: SOURCES.length,
  width: 160,
  height: 160,
  box: { x1: 30, y1: 10, x2: 130, y2: 150 },
});

describe('the graphs of a batch of musetalk', () => {
  let packs: TestPacks;
  let pack: Pack<MusetalkManifest>;
  let runPack: RunModel;

  beforeAll(async () => {
    packs = await testPacks();
    pack = await writePooledMusetalkPack(packs.at('pooled'), {
      parsing: 'a batch',
      params: { batch: SOURCES.length },
    });
    runPack = await packs.load(pack);
  });
  afterAll(() => packs.close());

  /** A full batch on graphs that run as `run` says; not so the encoder of the speech. */
  function fullBatch(run: RunModel): FaceBatch {
    const clip = createMusetalk(pack, (role, ...call) =>
      role === 'whisper_encoder' ? runPack(role, ...call) : run(role, ...call),
    ).open(onceSeenClip({ track, sources: SOURCES, format }));
    const batch = clip.newBatch();
    for (const output of SOURCES) batch.take(new Uint8Array(pictureLayout(format).bytes).fill(128), output);
    return batch;
  }

  test('what needs no result of another one waits for none, and faces are generated before they are parsed', async () => {
    const begun: string[] = [];
    const held = new Set(['vae_encoder', 'face_parsing', 'unet', 'vae_decoder']);
    const batch = fullBatch(async (role, ...call) => {
      begun.push(role);
      while (held.has(role)) await ticks();
      return runPack(role, ...call);
    });
    const inferring = batch.infer();
    await ticks();
    expect(begun).toEqual(['vae_encoder', 'vae_encoder', 'face_parsing']);

    for (const role of ['vae_encoder', 'unet', 'vae_decoder']) held.delete(role);
    while (!begun.includes('vae_decoder')) await ticks();
    held.delete('face_parsing');
    await inferring;
    expect(begun.slice(3)).toEqual(['unet', 'vae_decoder']);
  });

  test.each(['vae_encoder', 'face_parsing', 'unet', 'vae_decoder'])(
    'a failure of %s fails the batch once no graph runs for it any more',
    async (failing) => {
      let running = 0;
      const batch = fullBatch(async (role, ...call) => {
        running++;
        try {
          if (role === failing) throw new Error(`${role} failed`);
          return await runPack(role, ...call);
        } finally {
          running--;
        }
      });
      await expect(batch.infer()).rejects.toThrow(`${failing} failed`);
      expect(running).toBe(0);
    },
  );
});
