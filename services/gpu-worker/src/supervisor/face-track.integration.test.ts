import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINES } from '@lipsync/contract';
import { beginFeature, cancelRender, claimJob, type FeatureBegin } from '@lipsync/db';
import { FACE_TRACK_VERSION } from '@lipsync/lipsync';
import { buildBuiltinPacks } from '@lipsync/model-pack';
import { eventually } from '@lipsync/testkit';
import { findPacks, type FoundPacks } from '../host/find-packs';
import { createInferenceHost, type InferenceHost } from '../host/inference-host';
import { COMPILED_CHILD } from '../test/compiled';
import { createRenderFixture, type NewJob, type RenderFixture } from '../test/render-fixture';
import { createTestWorkers, type TestWorkers } from '../test/test-workers';
import { trackName } from './cached-features';

const never = new AbortController().signal;

describe('face tracks of videos', () => {
  let folder: string;
  let fixture: RenderFixture;
  let packs: FoundPacks;
  let hosts: InferenceHost[];
  let workers: TestWorkers;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tracks-'));
    await buildBuiltinPacks(join(folder, 'packs'));
    packs = await findPacks(join(folder, 'packs'));
    fixture = await createRenderFixture(folder);
    hosts = Array.from({ length: 3 }, () => createInferenceHost({ entry: COMPILED_CHILD }));
    const broken = createInferenceHost({ entry: join(folder, 'nowhere.js') });
    workers = createTestWorkers({ fixture, packs, hosts, broken, folder });
  }, 60_000);
  beforeEach(() => workers.warnings());
  afterEach(() => fixture.s3.faults.clear());
  afterAll(async () => {
    hosts.forEach((host) => host.kill());
    await fixture.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function usageOf({ runId }: NewJob): Promise<Record<string, unknown>> {
    const [row] = await fixture.factories.query<{ status: string; usage: Record<string, unknown> }>(
      'SELECT status, usage FROM engine_runs WHERE id = $1',
      [runId],
    );
    expect(row?.status).toBe('completed');
    return row?.usage ?? {};
  }
  async function analyzedFrames(jobs: readonly NewJob[]): Promise<number[]> {
    const usages = await Promise.all(jobs.map(usageOf));
    return usages.map((usage) => Number(usage['analyzed_frames']));
  }
  /** Claims the track for a job that is making it and never finishes. */
  async function makeElsewhere(videoId: string): Promise<{ jobId: string; begun: FeatureBegin }> {
    const { jobId } = await fixture.render({ audio: 'short', prepared: false, videoId });
    const claim = await claimJob(fixture.db, jobId, { workerId: 'elsewhere', leaseSeconds: 600 });
    if (!claim) throw new Error('not claimed');
    const key = {
      customerId: fixture.customerId,
      videoSha256: await workers.shaOf(videoId),
      name: ownName(),
    };
    const request = { wantedFrames: Infinity, expiresAt: new Date(Date.now() + 60_000) };
    return { jobId, begun: await beginFeature(fixture.db, key, claim, request) };
  }
  const ownName = (): string =>
    trackName({ version: FACE_TRACK_VERSION, analyzerVersion: packs.analyzer?.version ?? '' });
  const loseLease = (jobId: string): Promise<unknown> =>
    fixture.factories.query(`UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = $1`, [
      jobId,
    ]);
  const untilPreparing = ({ renderId }: { renderId: string }): Promise<void> =>
    eventually(
      async () => {
        const [row] = await fixture.factories.query('SELECT stage FROM renders WHERE id = $1', [renderId]);
        expect(row).toEqual({ stage: 'preparing' });
      },
      { deadlineMs: 60_000 },
    );

  test('a second render of the same bytes, under another asset and on another worker, runs no detector', async () => {
    const videoId = await fixture.newVideo('face');
    const first = await fixture.render({ audio: 'short', prepared: false, videoId });
    const twin = await fixture.twinOf(videoId);
    const second = await fixture.render({ audio: 'short', prepared: false, videoId: twin });
    const analysing = await workers.perform(first);
    const reusing = await workers.perform(second);
    const [analyzed, reused] = await analyzedFrames([first, second]);
    expect(analyzed).toBeGreaterThan(17);
    expect(analysing['detector_runs']).toBeGreaterThan(0);
    expect(reused).toBe(0);
    expect(reusing).toMatchObject({ face_track: 'cache', detector_runs: 0 });
    expect(await usageOf(second)).toMatchObject({ input_video_seconds: 3, input_audio_seconds: 0.6 });
  }, 60_000);

  test('the three engines of a render, on three workers at once, share one analysis', async () => {
    const videoId = await fixture.newVideo('face');
    const engines = [...ENGINES];
    const { jobs } = await fixture.render({ audio: 'short', prepared: false, videoId, engines });
    const facts = await Promise.all(jobs.map((job) => workers.perform(job)));
    expect((await analyzedFrames(jobs)).filter((frames) => frames > 0)).toHaveLength(1);
    expect(facts.filter((fact) => fact['detector_runs'] !== 0)).toHaveLength(1);
    expect(facts.map((fact) => fact['face_track']).sort()).toEqual(['analysis', 'cache', 'cache']);
  }, 180_000);

  test('two renders that start at the same time on two workers analyze their video once', async () => {
    const videoId = await fixture.newVideo('face');
    const jobs = await Promise.all(
      [1, 2].map(() => fixture.render({ audio: 'short', prepared: false, videoId })),
    );
    await Promise.all(jobs.map((job) => workers.perform(job)));
    const frames = (await analyzedFrames(jobs)).sort((a, b) => a - b);
    expect(frames).toEqual([0, expect.any(Number) as number]);
    expect(frames[1]).toBeGreaterThan(0);
  }, 60_000);

  test('a track of the first seconds serves renders that need no more; one that needs more extends it for all', async () => {
    const videoId = await fixture.newVideo('face');
    const short = await fixture.render({ audio: 'short', prepared: false, videoId });
    const whole = await fixture.render({ audio: 'short', prepared: false, videoId, syncMode: 'remap' });
    const after = await fixture.render({ audio: 'short', prepared: false, videoId, syncMode: 'remap' });
    await workers.perform(short);
    expect(await workers.kept(videoId)).toMatchObject([{ complete: false }]);
    await workers.perform(whole);
    expect(await workers.kept(videoId)).toMatchObject([{ complete: true, frames: 75 }]);
    await workers.perform(after);
    const [part, all, none] = await analyzedFrames([short, whole, after]);
    expect(part).toBeLessThan(75);
    expect([all, none]).toEqual([75, 0]);
  }, 60_000);

  test('a preparation and the renders after it share one analysis, whether or not they name it', async () => {
    const videoId = await fixture.newVideo('face');
    const preparation = await fixture.preparation(videoId);
    await workers.perform(preparation);
    const [row] = await fixture.factories.query<Record<string, unknown>>(
      'SELECT * FROM preparations WHERE id = $1',
      [preparation.preparationId],
    );
    expect(row).toMatchObject({
      ...{ status: 'completed', version: FACE_TRACK_VERSION, analyzer_version: packs.analyzer?.version },
      ...{ frames: 75, fps: 25, width: 256, height: 256, duration_seconds: 3 },
    });
    const naming = await fixture.render({ audio: 'short', prepared: preparation.preparationId, videoId });
    const silent = await fixture.render({ audio: 'short', prepared: false, videoId });
    await workers.perform(naming);
    await workers.perform(silent);
    expect(await analyzedFrames([naming, silent])).toEqual([0, 0]);
  }, 60_000);

  test('a second preparation of the same bytes completes with the results of the first', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await fixture.preparation(videoId));
    const object = await workers.objectOf(videoId, ownName());
    const made = await fixture.storage.head(object);
    const second = await fixture.preparation(await fixture.twinOf(videoId));
    await workers.withoutChildren(() => workers.perform(second));
    const [row] = await fixture.factories.query('SELECT status, frames FROM preparations WHERE id = $1', [
      second.preparationId,
    ]);
    expect(row).toEqual({ status: 'completed', frames: 75 });
    expect(await fixture.storage.head(object)).toEqual(made);
  }, 60_000);

  test('a preparation keeps using its own track after the analyzer has changed', async () => {
    // The fixture's track was made by a different analyzer than this worker's, which finds no face in the plain video.
    const render = await fixture.render({ audio: 'short', prepared: true });
    await workers.perform(render);
    expect(await analyzedFrames([render])).toEqual([0]);
    expect(workers.warnings()).toEqual([]);
  }, 60_000);

  test.each([
    ['in a form that is not read any more', `version = '1'`],
    ['and is not kept any more', `analyzer_version = 'another@1.0.0+000000000000'`],
  ])(
    'a preparation whose track was made %s is replaced by an analysis, and the log says so',
    async (_, change) => {
      const videoId = await fixture.newVideo('face');
      const { preparationId, jobId } = await fixture.preparation(videoId);
      await workers.perform({ jobId });
      await fixture.factories.query('DELETE FROM features WHERE video_sha256 = $1', [
        await workers.shaOf(videoId),
      ]);
      await fixture.factories.query(`UPDATE preparations SET ${change} WHERE id = $1`, [preparationId]);
      const render = await fixture.render({ audio: 'short', prepared: preparationId, videoId });
      await workers.perform(render);
      const [frames] = await analyzedFrames([render]);
      expect(frames).toBeGreaterThan(0);
      expect(workers.warnings()).toEqual(['a preparation cannot be used, the video is analysed anew']);
    },
    60_000,
  );

  test.each([
    {
      harm: 'holds other bytes',
      apply: (key: string) => fixture.storage.put(key, Buffer.from('other'), { contentType: 'x/y' }),
      warning: 'a kept feature is damaged or gone',
    },
    {
      harm: 'is gone',
      apply: (key: string) => fixture.storage.delete([key]),
      warning: 'a kept feature is damaged or gone',
    },
    {
      harm: 'is withheld, though the store answers',
      apply: async (key: string) =>
        fixture.s3.faults.set({
          slowDownRate: 1,
          applies: (request) => request.method === 'GET' && request.key === key,
        }),
      warning: 'a kept face track cannot be read',
    },
  ])(
    'a kept track whose object $harm is dropped and recomputed, and fails no render',
    async ({ apply, warning }) => {
      const videoId = await fixture.newVideo('face');
      const [first, second, third] = [
        await fixture.render({ audio: 'short', prepared: false, videoId }),
        await fixture.render({ audio: 'short', prepared: false, videoId }),
        await fixture.render({ audio: 'short', prepared: false, videoId }),
      ];
      await workers.perform(first);
      await apply(await workers.objectOf(videoId, ownName()));
      await workers.perform(second);
      expect(workers.warnings()).toEqual([warning]);
      fixture.s3.faults.clear();
      await workers.perform(third);
      const [made, again, found] = await analyzedFrames([first, second, third]);
      expect(again).toBe(made);
      expect(found).toBe(0);
    },
    60_000,
  );

  test('a track is not given up while the store is away', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await fixture.render({ audio: 'short', prepared: false, videoId }));
    const [kept] = await workers.kept(videoId);
    const object = await workers.objectOf(videoId, ownName());
    let isAway = false;
    fixture.s3.faults.set({ slowDownRate: 1, applies: ({ key }) => (isAway ||= key === object) });
    const render = await fixture.render({ audio: 'short', prepared: false, videoId });
    await workers.perform(render);
    expect(await fixture.job(render.jobId)).toMatchObject({
      ...{ status: 'queued', last_error_code: 'storage_failed' },
    });
    expect(await workers.kept(videoId)).toEqual([kept]);
  }, 60_000);

  test('a track that cannot be stored does not affect its render, and the next render makes it again', async () => {
    const videoId = await fixture.newVideo('face');
    const [first, second] = [
      await fixture.render({ audio: 'short', prepared: false, videoId }),
      await fixture.render({ audio: 'short', prepared: false, videoId }),
    ];
    fixture.s3.faults.set({
      slowDownRate: 1,
      applies: ({ method, key }) => method === 'PUT' && key.startsWith('features/'),
    });
    await workers.perform(first);
    expect(workers.warnings()).toEqual(['a face track could not be kept']);
    expect(await workers.kept(videoId)).toMatchObject([{ sha256: null, maker_job_id: null }]);
    fixture.s3.faults.clear();
    await workers.perform(second);
    const [made, again] = await analyzedFrames([first, second]);
    expect(again).toBe(made);
  }, 60_000);

  test('a preparation whose track cannot be stored is retried, because it would be useless', async () => {
    const { jobId } = await fixture.preparation(await fixture.newVideo('face'));
    fixture.s3.faults.set({ slowDownRate: 1, applies: ({ method }) => method === 'PUT' });
    await workers.perform({ jobId });
    expect(await fixture.job(jobId)).toMatchObject({ status: 'queued', last_error_code: 'storage_failed' });
  }, 60_000);

  test('that a video shows no face is determined once, for other engines and renders too', async () => {
    const videoId = await fixture.newVideo('no face');
    const [first, second] = [
      await fixture.render({ audio: 'short', prepared: false, videoId }),
      await fixture.render({ audio: 'short', prepared: false, videoId }),
    ];
    await workers.perform(first);
    await workers.withoutChildren(() => workers.perform(second));
    const runIds = [first.runId, second.runId];
    const failed = await fixture.factories.query('SELECT error_code FROM engine_runs WHERE id = ANY($1)', [
      runIds,
    ]);
    expect(failed).toEqual([{ error_code: 'no_face_detected' }, { error_code: 'no_face_detected' }]);
  }, 60_000);

  test('a render waits for the track that another job makes, and makes it itself once that job’s lease has expired', async () => {
    const videoId = await fixture.newVideo('face');
    const elsewhere = await makeElsewhere(videoId);
    expect(elsewhere.begun).toEqual({ state: 'make' });
    const render = await fixture.render({ audio: 'short', prepared: false, videoId });
    const running = workers.perform(render);
    await untilPreparing(render);
    expect(await workers.kept(videoId)).toMatchObject([{ maker_job_id: elsewhere.jobId }]);
    await loseLease(elsewhere.jobId);
    await running;
    const [frames] = await analyzedFrames([render]);
    expect(frames).toBeGreaterThan(0);
  }, 60_000);

  test('a render that is cancelled while it waits ends at once', async () => {
    const videoId = await fixture.newVideo('face');
    await makeElsewhere(videoId);
    const render = await fixture.render({ audio: 'short', prepared: false, videoId });
    const worker = await workers.newWorker();
    const running = worker.run(render.jobId, never);
    await untilPreparing(render);
    await cancelRender(fixture.db, fixture.customerId, render.renderId);
    worker.checkCancelled(render.jobId);
    await running;
    const [row] = await fixture.factories.query('SELECT status FROM renders WHERE id = $1', [
      render.renderId,
    ]);
    expect(row).toEqual({ status: 'cancelled' });
  }, 60_000);

  test('a render that is cancelled while it makes the track leaves it to the waiting one', async () => {
    const videoId = await fixture.newVideo('face');
    const [maker, waiting] = [
      await fixture.render({ audio: 'long', prepared: false, videoId }),
      await fixture.render({ audio: 'short', prepared: false, videoId }),
    ];
    const worker = await workers.newWorker();
    const making = worker.run(maker.jobId, never);
    await eventually(
      async () => expect(await workers.kept(videoId)).toMatchObject([{ maker_job_id: maker.jobId }]),
      {
        deadlineMs: 60_000,
      },
    );
    const running = workers.perform(waiting);
    await cancelRender(fixture.db, fixture.customerId, maker.renderId);
    worker.checkCancelled(maker.jobId);
    await Promise.all([making, running]);
    const [frames] = await analyzedFrames([waiting]);
    expect(frames).toBeGreaterThan(0);
  }, 60_000);
});
