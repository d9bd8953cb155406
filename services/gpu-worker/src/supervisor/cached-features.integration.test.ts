import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { eventually, testFolder } from '@lipsync/testkit';
import { createRenderFixture, type RenderFixture } from '../test/render-fixture';
import { createScriptedHost, SCRIPTED_MEDIA, SCRIPTED_PACKS, scriptedPack } from '../test/scripted-host';
import { createTestWorkers, type KeptRow, type TestWorkers } from '../test/test-workers';

/** The part of the video that short speech shows: 0.6 s and no more. */
const SHOWN = 15;
const VIDEO_FRAMES = 225;
const FPS = 25;

describe('the features that engines cache of videos', () => {
  const at = testFolder();
  let fixture: RenderFixture;
  let workers: TestWorkers;

  beforeAll(async () => {
    fixture = await createRenderFixture(SCRIPTED_MEDIA);
    workers = createTestWorkers({ fixture, packs: SCRIPTED_PACKS, host: createScriptedHost(), folder: at() });
  });
  beforeEach(() => workers.warnings());
  afterEach(() => fixture.s3.faults.clear());
  afterAll(() => fixture.close());

  const newRender = (videoId: string, change: { prepared?: string; syncMode?: 'remap' } = {}) =>
    fixture.render({ audio: 'short', prepared: false, videoId, engines: ['highsync'], ...change });
  const latents = async (videoId: string): Promise<KeptRow[]> =>
    (await workers.kept(videoId)).filter(({ name }) => name.startsWith('latents:highsync:'));
  const latentsObject = async (videoId: string): Promise<string> => {
    const [row] = await latents(videoId);
    return workers.objectOf(videoId, row?.name ?? '');
  };

  test('a render keeps what its engine computed; the next ones reuse it, and a larger content replaces it', async () => {
    const videoId = await fixture.newVideo('face');
    const first = await workers.perform(await newRender(videoId));
    expect(first).toMatchObject({ outcome: 'completed', features_known_seconds: 0, features_added: SHOWN });
    expect(await latents(videoId)).toMatchObject([{ seconds: SHOWN / FPS, complete: false }]);
    const second = await workers.perform(await newRender(await fixture.twinOf(videoId)));
    expect(second).toMatchObject({
      outcome: 'completed',
      features_known_seconds: SHOWN / FPS,
      features_added: 0,
    });

    const before = await latentsObject(videoId);
    // Every fifteenth frame of the whole video, of which one is known.
    const more = await workers.perform(await newRender(videoId, { syncMode: 'remap' }));
    expect(more).toMatchObject({ features_known_seconds: SHOWN / FPS, features_added: 14 });
    expect((await latents(videoId))[0]?.seconds).toBeCloseTo((SHOWN + 14) / FPS);
    expect(await latentsObject(videoId)).not.toBe(before);
    expect(await workers.perform(await newRender(videoId))).toMatchObject({ features_added: 0 });
    await expectIntactCaches();
  });

  /** However renders extend their own copies, a file of a disk cache is never modified. */
  async function expectIntactCaches(): Promise<void> {
    for (const owner of await readdir(at())) {
      for (const name of await readdir(at(owner, 'cache'))) {
        const bytes = await readFile(at(owner, 'cache', name));
        expect(name).toBe(`${fixture.customerId}-${createHash('sha256').update(bytes).digest('hex')}`);
      }
    }
  }

  test('a preparation continues from what renders have saved, to the end; after it nothing is computed', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await newRender(videoId));
    const { preparationId, jobId } = await fixture.preparation(videoId);
    const prepared = await workers.perform({ jobId });
    expect(prepared).toMatchObject({ features_added: { highsync: VIDEO_FRAMES - SHOWN } });
    expect(await latents(videoId)).toMatchObject([{ seconds: VIDEO_FRAMES / FPS, complete: true }]);

    const render = await newRender(videoId, { prepared: preparationId, syncMode: 'remap' });
    expect(await workers.perform(render)).toMatchObject({
      features_known_seconds: VIDEO_FRAMES / FPS,
      features_added: 0,
    });
    const second = await workers.perform(await fixture.preparation(videoId));
    expect(second).toMatchObject({ outcome: 'completed', face_track: 'cache', features_added: {} });
    expect(second).not.toHaveProperty('features_timings');
  });

  test('a short render fetches no more of a preparation’s features than it shows', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await fixture.preparation(videoId));
    const object = await latentsObject(videoId);
    const others = await readdir(at());
    expect(await workers.perform(await newRender(videoId))).toMatchObject({
      features_known_seconds: VIDEO_FRAMES / FPS,
      features_added: 0,
    });
    const [own = ''] = (await readdir(at())).filter((name) => !others.includes(name));
    const cached = await readdir(at(own, 'cache'));
    expect(cached.length).toBeGreaterThan(0);
    const digest = object.split('/').at(-1);
    expect(cached.filter((name) => name.endsWith(`-${digest}`))).toEqual([]);

    await fixture.storage.put(object, Buffer.from('?'), { contentType: 'x/y' });
    expect(await workers.perform(await newRender(videoId))).toMatchObject({
      features_known_seconds: 0,
      features_added: SHOWN,
    });
    expect(workers.warnings()).toEqual(['a kept feature is damaged or gone']);
  });

  test.each([
    [
      'holds other bytes',
      (key: string) => fixture.storage.put(key, Buffer.from('?'), { contentType: 'x/y' }),
    ],
    ['is gone', (key: string) => fixture.storage.delete([key])],
  ])('features whose object %s are recomputed and fail no render', async (_, harm) => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await newRender(videoId));
    await harm(await latentsObject(videoId));
    const render = await workers.perform(await newRender(videoId));
    expect(render).toMatchObject({ outcome: 'completed', features_known_seconds: 0, features_added: SHOWN });
    expect(workers.warnings()).toEqual(['a kept feature is damaged or gone']);
    expect(await workers.perform(await newRender(videoId))).toMatchObject({
      features_known_seconds: SHOWN / FPS,
    });
  });

  test.each([
    ['given', 'GET', 'kept features could not be fetched'],
    ['taken', 'PUT', 'features could not be kept'],
  ])('a render completes even when features cannot be %s', async (_, faulty, warning) => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await newRender(videoId));
    const object = await latentsObject(videoId);
    const render = await newRender(videoId, { syncMode: 'remap' });
    fixture.s3.faults.set({
      slowDownRate: 1,
      // Excludes the track, which lies beside the features and is extended by this render.
      applies: ({ method, key }) =>
        method === faulty && (faulty === 'PUT' ? key.startsWith('features/') : key === object),
    });
    expect(await workers.perform(render)).toMatchObject({ outcome: 'completed' });
    expect(workers.warnings()).toContain(warning);
  });

  test('features of frames in the colors of the source are not those of frames in H.264', async () => {
    const videoId = await fixture.newVideo('face');
    const perform = async (videoOutput: string) => workers.perform(await newRender(videoId), { videoOutput });
    expect(await perform('source')).toMatchObject({ features_known_seconds: 0, features_added: SHOWN });
    expect(await perform('h264')).toMatchObject({ features_known_seconds: 0, features_added: SHOWN });
    for (const output of ['source', 'h264'])
      expect(await perform(output)).toMatchObject({ features_known_seconds: SHOWN / FPS, features_added: 0 });
  });

  test('keeping features does not hold up the completion of their render', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await fixture.preparation(videoId));
    await fixture.factories.query(`DELETE FROM features WHERE name LIKE 'latents:%'`);
    const render = await newRender(videoId);
    let letThrough = (): void => undefined;
    fixture.s3.faults.set({
      heldUntil: new Promise((resolve) => (letThrough = resolve)),
      applies: ({ method, key }) => method === 'PUT' && key.startsWith('features/'),
    });
    const running = workers.perform(render);
    await eventually(async () =>
      expect(await fixture.row('renders', render.renderId)).toMatchObject({ status: 'completed' }),
    );
    expect(await latents(videoId)).toEqual([]);
    letThrough();
    await running;
    expect(await latents(videoId)).toMatchObject([{ seconds: SHOWN / FPS }]);
  });

  test('an engine that fails to compute features in advance affects neither the preparation nor other engines', async () => {
    const videoId = await fixture.newVideo('face');
    const engines = new Map(SCRIPTED_PACKS.engines);
    engines.set('musetalk', scriptedPack('broken', engines.get('highsync')?.features));
    const packs = { ...SCRIPTED_PACKS, engines };
    const facts = await workers.perform(await fixture.preparation(videoId), { packs });
    expect(facts).toMatchObject({ outcome: 'completed', face_track: 'analysis' });
    expect(facts['features_added']).toEqual({ highsync: VIDEO_FRAMES });
    expect(workers.warnings()).toEqual(['features could not be computed ahead']);
    expect(await latents(videoId)).toMatchObject([{ seconds: VIDEO_FRAMES / FPS, complete: true }]);
  });
});
