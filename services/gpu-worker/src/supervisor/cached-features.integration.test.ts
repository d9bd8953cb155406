import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import { buildAnalyzerPack, buildBuiltinPacks } from '@lipsync/model-pack';
import { createLogger } from '@lipsync/runtime';
import { eventually } from '@lipsync/testkit';
import { findPacks, type FoundPacks } from '../host/find-packs';
import { createInferenceHost, type InferenceHost } from '../host/inference-host';
import { COMPILED_CHILD } from '../test/compiled';
import { writeHighsyncPack } from '../test/highsync-pack';
import { writePooledMusetalkPack } from '../test/pooled-musetalk-pack';
import { createRenderFixture, type NewRender, type RenderFixture } from '../test/render-fixture';
import { createTestWorkers, type KeptRow, type TestWorkers } from '../test/test-workers';
import { verifyPacks } from './verify-packs';

const never = new AbortController().signal;
/** The part of the video that short speech shows: 0.6 s and no more. */
const SHOWN = 15;
const VIDEO_FRAMES = 75;

describe('the features that engines keep of videos', () => {
  let folder: string;
  let fixture: RenderFixture;
  let packs: FoundPacks;
  let hosts: InferenceHost[];
  let broken: InferenceHost;
  let workers: TestWorkers;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'features-'));
    await buildAnalyzerPack(join(folder, 'packs/analyzer'));
    await writeHighsyncPack(join(folder, 'packs/highsync'));
    fixture = await createRenderFixture(folder);
    hosts = [createInferenceHost({ entry: COMPILED_CHILD })];
    broken = createInferenceHost({ entry: join(folder, 'nowhere.js') });
    packs = await verified(join(folder, 'packs'));
    workers = createTestWorkers({ fixture, packs, hosts, broken, folder });
  }, 60_000);
  beforeEach(() => workers.warnings());
  afterEach(() => fixture.s3.faults.clear());
  afterAll(async () => {
    hosts.forEach((host) => host.kill());
    await fixture.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function verified(packsDir: string, engines: readonly Engine[] = ['highsync']): Promise<FoundPacks> {
    const host = createInferenceHost({ entry: COMPILED_CHILD });
    const logger = createLogger({ service: 'test', level: 'silent' });
    try {
      return await verifyPacks(await findPacks(packsDir), engines, host, logger);
    } finally {
      host.kill();
    }
  }
  const newRender = (
    videoId: string,
    change: { prepared?: string; syncMode?: 'remap' } = {},
  ): Promise<NewRender> =>
    fixture.render({ audio: 'short', prepared: false, videoId, engines: ['highsync'], ...change });
  const latents = async (videoId: string): Promise<KeptRow[]> =>
    (await workers.kept(videoId)).filter(({ name }) => name.startsWith('latents:highsync:'));
  const latentsObject = async (videoId: string): Promise<string> => {
    const [row] = await latents(videoId);
    return workers.objectOf(videoId, row?.name ?? '');
  };
  const statusOf = async (table: 'renders' | 'preparations', id: string): Promise<unknown> => {
    const [row] = await fixture.factories.query<{ status: string }>(
      `SELECT status FROM ${table} WHERE id = $1`,
      [id],
    );
    return row?.status;
  };

  test('the first render keeps what its engine computed, and the next one reuses all of it', async () => {
    const videoId = await fixture.newVideo('face');
    const first = await workers.perform(await newRender(videoId));
    expect(first).toMatchObject({ outcome: 'completed', features_known: 0, features_added: SHOWN });
    expect(await latents(videoId)).toMatchObject([{ frames: SHOWN, complete: false }]);
    const second = await workers.perform(await newRender(await fixture.twinOf(videoId)));
    expect(second).toMatchObject({ outcome: 'completed', features_known: SHOWN, features_added: 0 });
  }, 60_000);

  test('a render that shows more adds what it shows, and the larger content replaces the smaller one', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await newRender(videoId));
    const before = await latentsObject(videoId);
    // Every fifth frame of the whole video, of which three are known.
    const more = await workers.perform(await newRender(videoId, { syncMode: 'remap' }));
    expect(more).toMatchObject({ features_known: SHOWN, features_added: 12 });
    expect(await latents(videoId)).toMatchObject([{ frames: SHOWN + 12 }]);
    expect(await latentsObject(videoId)).not.toBe(before);
    expect(await workers.perform(await newRender(videoId))).toMatchObject({ features_added: 0 });
  }, 60_000);

  test('a preparation computes features for the whole video, and its renders compute none', async () => {
    const videoId = await fixture.newVideo('face');
    const { preparationId, jobId } = await fixture.preparation(videoId);
    const prepared = await workers.perform({ jobId });
    expect(prepared).toMatchObject({ features_added: { highsync: VIDEO_FRAMES } });
    expect(await latents(videoId)).toMatchObject([{ frames: VIDEO_FRAMES, complete: true }]);
    const render = await newRender(videoId, { prepared: preparationId, syncMode: 'remap' });
    expect(await workers.perform(render)).toMatchObject({ features_known: VIDEO_FRAMES, features_added: 0 });
  }, 60_000);

  test('a short render fetches no more of a preparation’s features than it shows', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await fixture.preparation(videoId));
    const object = await latentsObject(videoId);
    const others = await readdir(folder);
    expect(await workers.perform(await newRender(videoId))).toMatchObject({
      ...{ features_known: VIDEO_FRAMES, features_added: 0 },
    });
    const [own = ''] = (await readdir(folder)).filter((name) => !others.includes(name));
    const cached = await readdir(join(folder, own, 'cache'));
    expect(cached.length).toBeGreaterThan(0);
    const digest = object.split('/').at(-1);
    expect(cached.filter((name) => name.endsWith(`-${digest}`))).toEqual([]);

    await fixture.storage.put(object, Buffer.from('?'), { contentType: 'x/y' });
    expect(await workers.perform(await newRender(videoId))).toMatchObject({
      ...{ features_known: 0, features_added: SHOWN },
    });
    expect(workers.warnings()).toEqual(['a kept feature is damaged or gone']);
  }, 60_000);

  test('a preparation continues from what renders have kept, and a second one has nothing left to do', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await newRender(videoId));
    const first = await workers.perform(await fixture.preparation(videoId));
    expect(first).toMatchObject({ features_added: { highsync: VIDEO_FRAMES - SHOWN } });
    const second = await fixture.preparation(videoId);
    const facts = await workers.withoutChildren(() => workers.perform(second));
    expect(facts).toMatchObject({ outcome: 'completed', face_track: 'cache', features_added: {} });
  }, 60_000);

  test.each([
    [
      'holds other bytes',
      (key: string) => fixture.storage.put(key, Buffer.from('?'), { contentType: 'x/y' }),
    ],
    ['is gone', (key: string) => fixture.storage.delete([key])],
  ])(
    'features whose object %s are recomputed and fail no render',
    async (_, harm) => {
      const videoId = await fixture.newVideo('face');
      await workers.perform(await newRender(videoId));
      await harm(await latentsObject(videoId));
      const render = await workers.perform(await newRender(videoId));
      expect(render).toMatchObject({ outcome: 'completed', features_known: 0, features_added: SHOWN });
      expect(workers.warnings()).toEqual(['a kept feature is damaged or gone']);
      expect(await workers.perform(await newRender(videoId))).toMatchObject({ features_known: SHOWN });
    },
    60_000,
  );

  test.each([
    ['given', 'GET', 'kept features could not be fetched'],
    ['taken', 'PUT', 'features could not be kept'],
  ])(
    'a render completes even when features cannot be %s',
    async (_, faulty, warning) => {
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
    },
    60_000,
  );

  test('keeping features does not hold up the completion of their render', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await fixture.preparation(videoId));
    await fixture.factories.query(`DELETE FROM features WHERE name LIKE 'latents:%'`);
    const render = await newRender(videoId);
    fixture.s3.faults.set({
      latencyMs: 4_000,
      applies: ({ method, key }) => method === 'PUT' && key.startsWith('features/'),
    });
    const running = workers.perform(render);
    await eventually(async () => expect(await statusOf('renders', render.renderId)).toBe('completed'), {
      deadlineMs: 60_000,
    });
    expect(await latents(videoId)).toEqual([]);
    await running;
    expect(await latents(videoId)).toMatchObject([{ frames: SHOWN }]);
  }, 60_000);

  test('a file of the disk cache is never modified, however a render extends its own copy', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await newRender(videoId));
    const worker = await workers.newWorker();
    await worker.run((await newRender(videoId, { syncMode: 'remap' })).jobId, never);
    for (const owner of (await readdir(folder)).filter((name) => name.startsWith('worker-'))) {
      for (const name of await readdir(join(folder, owner, 'cache'))) {
        const bytes = await readFile(join(folder, owner, 'cache', name));
        expect(name).toBe(`${fixture.customerId}-${createHash('sha256').update(bytes).digest('hex')}`);
      }
    }
  }, 60_000);

  test('an engine that fails to compute features in advance affects neither the preparation nor other engines', async () => {
    const videoId = await fixture.newVideo('face');
    const both = join(folder, 'both-packs');
    await cp(join(folder, 'packs'), both, { recursive: true });
    await buildBuiltinPacks(join(folder, 'builtin'));
    await writePooledMusetalkPack(join(both, 'musetalk'), join(folder, 'builtin'));
    const damaged = await verified(both, ['musetalk', 'highsync']);
    await rm(join(both, 'musetalk/encoder.onnx'));
    const own = createTestWorkers({ fixture, packs: damaged, hosts, broken, folder: join(folder, 'own') });
    const facts = await own.perform(await fixture.preparation(videoId));
    const expected = {
      outcome: 'completed',
      face_track: 'analysis',
      features_added: { highsync: VIDEO_FRAMES },
    };
    expect(facts).toMatchObject(expected);
    expect(facts['features_added']).not.toHaveProperty('musetalk');
    expect(own.warnings()).toEqual(['features could not be computed ahead']);
    expect(await latents(videoId)).toMatchObject([{ frames: VIDEO_FRAMES, complete: true }]);
  }, 60_000);
});
