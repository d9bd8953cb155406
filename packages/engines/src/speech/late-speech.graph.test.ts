/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { type ClipInput } from '../engine';
import { createHighsync } from '../highsync/engine';
import { createLatentsync } from '../latentsync/engine';
import { type RunModel } from '../model';
import { createMusetalk } from '../musetalk/engine';
import { clipInput, generate, type OpenClip, trackOf, upTo } from '../test/clips';
import { writeHighsyncPack } from '../test/highsync-pack';
import { writeLatentsyncPack } from '../test/latentsync-pack';
import { writePooledMusetalkPack } from '../test/musetalk-pack';
import { recordRuns, type TestPacks, testPacks } from '../test/test-sessions';
import { type Recording } from './log-mel';

interface Engine {
  open(clip: ClipInput): OpenClip;
}

/** Engines, each over a small pack whose graphs run as told. */
const ENGINES: Readonly<
  Record<string, (packs: TestPacks) => Promise<[RunModel, (run: RunModel) => Engine]>>
> = {
  async musetalk(packs) {
    const pack = await writePooledMusetalkPack(packs.at('musetalk'), { loudness: 0.25 });
    return [await packs.load(pack), (run) => createMusetalk(pack, run)];
  },
  async latentsync(packs) {
    const pack = await writeLatentsyncPack(packs.at('latentsync'));
    return [await packs.load(pack), (run) => createLatentsync(pack, run)];
  },
  async highsync(packs) {
    const pack = await writeHighsyncPack(packs.at('highsync'));
    return [await packs.load(pack), (run) => createHighsync(pack, run)];
  },
};

const SOURCES = upTo(20);
/** The graphs that look at nothing but pictures. */
const LOOKING = new Set(['vae_encoder', 'face_parsing']);

describe.each(Object.entries(ENGINES))('%s', (_, load) => {
  let packs: TestPacks;
  let runPack: RunModel;
  let create: (run: RunModel) => Engine;
  beforeAll(async () => {
    packs = await testPacks();
    [runPack, create] = await load(packs);
  });
  afterAll(() => packs.close());

  test('encodes faces while their speech is still decoded, and draws them no differently', async () => {
    const { input } = clipInput(trackOf(SOURCES.length), SOURCES);
    const known = create(runPack).open(input);
    const { images } = await generate(known, SOURCES);
    await known.close();

    let arrive: (speech: Recording) => void = () => undefined;
    const audio = new Promise<Recording>((resolve) => (arrive = resolve));
    let begin: () => void = () => undefined;
    const encoding = new Promise<void>((resolve) => (begin = resolve));
    const { run, runs } = recordRuns(runPack, async (role) => {
      if (role === 'vae_encoder') begin();
    });
    const clip = create(run).open({ ...input, audio });
    const generating = generate(clip, SOURCES);
    await encoding;
    expect(runs.filter(({ role }) => !LOOKING.has(role))).toEqual([]);
    arrive(await input.audio);
    expect((await generating).images).toEqual(images);
    await clip.close();
  });

  test('fails with what its speech fails with', async () => {
    const { input } = clipInput(trackOf(SOURCES.length), SOURCES);
    const clip = create(runPack).open({ ...input, audio: Promise.reject(new Error('no such codec')) });
    await expect(generate(clip, SOURCES)).rejects.toThrow('no such codec');
    await clip.close();
  });
});
