import { ENGINES } from '@lipsync/contract';
import { beginFeature, cancelRender, claimJob, type FeatureBegin } from '@lipsync/db';
import { FACE_TRACK_VERSION } from '@lipsync/engines';
import { eventually, testFolder } from '@lipsync/testkit';
import { createRenderFixture, type NewJob, type RenderFixture } from '../test/render-fixture';
import { createScriptedHost, SCRIPTED_MEDIA, SCRIPTED_PACKS } from '../test/scripted-host';
import { createTestWorkers, type TestWorkers } from '../test/test-workers';
import { trackName } from './cached-features';

const never = new AbortController().signal;

describe('face tracks of videos', () => {
  const at = testFolder();
  let fixture: RenderFixture;
  let workers: TestWorkers;
  const host = createScriptedHost();

  beforeAll(async () => {
    fixture = await createRenderFixture(SCRIPTED_MEDIA);
    workers = createTestWorkers({ fixture, packs: SCRIPTED_PACKS, host, folder: at() });
  });
  beforeEach(() => workers.warnings());
  afterEach(() => fixture.s3.faults.clear());
  afterAll(() => fixture.close());

  async function usageOf({ runId }: NewJob): Promise<Record<string, unknown>> {
    const row = await fixture.row('engine_runs', runId);
    expect(row).toMatchObject({ status: 'completed' });
    return row['usage'] as Record<string, unknown>; // a JSON column
  }
  async function analyzedFrames(jobs: readonly NewJob[]): Promise<number[]> {
    const usages = await Promise.all(jobs.map(usageOf));
    return usages.map((usage) => Number(usage['analyzed_frames']));
  }
  /** Renders of one video, or of new assets with its bytes. */
  const newRender = (videoId: string, change: Partial<Parameters<RenderFixture['render']>[0]> = {}) =>
    fixture.render({ audio: 'short', prepared: false, videoId, ...change });
  /** Claims the track for a job that is making it and never finishes. */
  async function makeElsewhere(videoId: string): Promise<{ jobId: string; begun: FeatureBegin }> {
    const { jobId } = await newRender(videoId);
    const claim = await claimJob(fixture.db, jobId, { workerId: 'elsewhere', leaseSeconds: 600 });
    if (!claim) throw new Error('not claimed');
    const { customerId } = fixture;
    const key = { customerId, videoSha256: await workers.shaOf(videoId), name: OWN_NAME };
    const request = { wantedSeconds: Infinity, expiresAt: new Date(Date.now() + 60_000) };
    return { jobId, begun: await beginFeature(fixture.db, key, claim, request) };
  }
  const OWN_NAME = trackName({
    version: FACE_TRACK_VERSION,
    analyzerVersion: SCRIPTED_PACKS.analyzer.version,
  });
  const loseLease = (jobId: string): Promise<unknown> =>
    fixture.factories.query(`UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = $1`, [
      jobId,
    ]);
  const untilPreparing = ({ renderId }: { renderId: string }): Promise<void> =>
    eventually(async () =>
      expect(await fixture.row('renders', renderId)).toMatchObject({ stage: 'preparing' }),
    );

  test('a second render of the same bytes, under another asset and on another worker, runs no detector', async () => {
    const videoId = await fixture.newVideo('face');
    const first = await newRender(videoId);
    const second = await newRender(await fixture.twinOf(videoId));
    expect(await workers.perform(first)).toMatchObject({ face_track: 'analysis', detector_runs: 1 });
    expect(await workers.perform(second)).toMatchObject({ face_track: 'cache', detector_runs: 0 });
    const [analyzed, reused] = await analyzedFrames([first, second]);
    expect(analyzed).toBeGreaterThan(17);
    expect(reused).toBe(0);
    expect(await usageOf(second)).toMatchObject({ input_video_seconds: 9, input_audio_seconds: 0.6 });
  });

  test('the three engines of a render, on three workers at once, share one analysis', async () => {
    const { jobs } = await newRender(await fixture.newVideo('face'), { engines: [...ENGINES] });
    const facts = await Promise.all(jobs.map((job) => workers.perform(job)));
    expect((await analyzedFrames(jobs)).filter((frames) => frames > 0)).toHaveLength(1);
    expect(facts.map((fact) => fact['face_track']).sort()).toEqual(['analysis', 'cache', 'cache']);
  });

  test('a track of the first seconds serves renders that need no more; one that needs more extends it for all', async () => {
    const videoId = await fixture.newVideo('face');
    const short = await newRender(videoId);
    const whole = await newRender(videoId, { syncMode: 'remap' });
    const after = await newRender(videoId, { syncMode: 'remap' });
    await workers.perform(short);
    expect(await workers.kept(videoId)).toMatchObject([{ complete: false }]);
    await workers.perform(whole);
    expect(await workers.kept(videoId)).toMatchObject([{ complete: true, seconds: 9 }]);
    await workers.perform(after);
    const [part, all, none] = await analyzedFrames([short, whole, after]);
    expect(part).toBeLessThan(225);
    expect([all, none]).toEqual([225, 0]);
  });

  test('a preparation, the renders after it, whether or not they name it, and preparations of the same bytes share one analysis', async () => {
    const videoId = await fixture.newVideo('face');
    const before = host.analyses();
    const preparation = await fixture.preparation(videoId);
    await workers.perform(preparation);
    expect(await fixture.row('preparations', preparation.preparationId)).toMatchObject({
      status: 'completed',
      version: FACE_TRACK_VERSION,
      analyzer_version: SCRIPTED_PACKS.analyzer.version,
      frames: 225,
      fps: 25,
      width: 256,
      height: 256,
      duration_seconds: 9,
    });
    const naming = await newRender(videoId, { prepared: preparation.preparationId });
    const silent = await newRender(videoId);
    await workers.perform(naming);
    await workers.perform(silent);
    expect(await analyzedFrames([naming, silent])).toEqual([0, 0]);

    const object = await workers.objectOf(videoId, OWN_NAME);
    const made = await fixture.storage.head(object);
    const second = await fixture.preparation(await fixture.twinOf(videoId));
    await workers.perform(second);
    expect(await fixture.row('preparations', second.preparationId)).toMatchObject({
      status: 'completed',
      frames: 225,
    });
    expect(await fixture.storage.head(object)).toEqual(made);
    expect(host.analyses()).toBe(before + 1);
  });

  test('a preparation keeps using its own track after the analyzer has changed', async () => {
    // The fixture's track was made by a different analyzer than this worker's, which finds no face in the plain video.
    const render = await fixture.render({ audio: 'short', prepared: true });
    await workers.perform(render);
    expect(await analyzedFrames([render])).toEqual([0]);
    expect(workers.warnings()).toEqual([]);
  });

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
      const render = await newRender(videoId, { prepared: preparationId });
      await workers.perform(render);
      const [frames] = await analyzedFrames([render]);
      expect(frames).toBeGreaterThan(0);
      expect(workers.warnings()).toEqual(['a preparation cannot be used, the video is analyzed again']);
    },
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
    'a cached track whose object $harm is dropped and recomputed, and fails no render',
    async ({ apply, warning }) => {
      const videoId = await fixture.newVideo('face');
      const [first, second, third] = [
        await newRender(videoId),
        await newRender(videoId),
        await newRender(videoId),
      ];
      await workers.perform(first);
      await apply(await workers.objectOf(videoId, OWN_NAME));
      await workers.perform(second);
      expect(workers.warnings()).toEqual([warning]);
      fixture.s3.faults.clear();
      await workers.perform(third);
      const [made, again, found] = await analyzedFrames([first, second, third]);
      expect([again, found]).toEqual([made, 0]);
    },
  );

  test('a track is not given up while the store is away', async () => {
    const videoId = await fixture.newVideo('face');
    await workers.perform(await newRender(videoId));
    const [kept] = await workers.kept(videoId);
    const object = await workers.objectOf(videoId, OWN_NAME);
    let isAway = false;
    fixture.s3.faults.set({ slowDownRate: 1, applies: ({ key }) => (isAway ||= key === object) });
    const render = await newRender(videoId);
    await workers.perform(render);
    expect(await fixture.job(render.jobId)).toMatchObject({
      status: 'queued',
      last_error_code: 'storage_failed',
    });
    expect(await workers.kept(videoId)).toEqual([kept]);
  });

  test('a track that cannot be stored does not affect its render, and the next render makes it again', async () => {
    const videoId = await fixture.newVideo('face');
    const [first, second] = [await newRender(videoId), await newRender(videoId)];
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
  });

  test('a preparation whose track cannot be stored is retried, because it would be useless', async () => {
    const { jobId } = await fixture.preparation(await fixture.newVideo('face'));
    fixture.s3.faults.set({ slowDownRate: 1, applies: ({ method }) => method === 'PUT' });
    await workers.perform({ jobId });
    expect(await fixture.job(jobId)).toMatchObject({ status: 'queued', last_error_code: 'storage_failed' });
  });

  test('that a video shows no face is determined once, fails renders at once, and a preparation too', async () => {
    const videoId = await fixture.newVideo('no face');
    const before = host.analyses();
    const [first, second] = [await newRender(videoId), await newRender(videoId)];
    await workers.perform(first);
    await workers.perform(second);
    expect(host.analyses()).toBe(before + 1);
    const failed = { status: 'failed', error_code: 'no_face_detected' };
    for (const { renderId } of [first, second])
      expect(await fixture.row('renders', renderId)).toMatchObject(failed);

    const { preparationId, jobId } = await fixture.preparation(videoId);
    await workers.perform({ jobId });
    expect(await fixture.row('preparations', preparationId)).toMatchObject(failed);
    expect(await fixture.job(jobId)).toMatchObject({ status: 'finished', attempts: 1 });
  });

  test('a render waits for the track that another job makes, and makes it itself once that job’s lease has expired', async () => {
    const videoId = await fixture.newVideo('face');
    const elsewhere = await makeElsewhere(videoId);
    expect(elsewhere.begun).toEqual({ state: 'make' });
    const render = await newRender(videoId);
    const running = workers.perform(render);
    await untilPreparing(render);
    expect(await workers.kept(videoId)).toMatchObject([{ maker_job_id: elsewhere.jobId }]);
    await loseLease(elsewhere.jobId);
    await running;
    const [frames] = await analyzedFrames([render]);
    expect(frames).toBeGreaterThan(0);
  });

  test('a render that is cancelled while it waits ends at once', async () => {
    const videoId = await fixture.newVideo('face');
    await makeElsewhere(videoId);
    const render = await newRender(videoId);
    const worker = await workers.newWorker();
    const running = worker.run(render.jobId, never);
    await untilPreparing(render);
    await cancelRender(fixture.db, fixture.customerId, render.renderId);
    worker.checkCancelled(render.jobId);
    await running;
    expect(await fixture.row('renders', render.renderId)).toMatchObject({ status: 'cancelled' });
  });

  test('a render that is cancelled while it makes the track leaves it to the waiting one', async () => {
    const videoId = await fixture.newVideo('face');
    const [owner, waiting] = [await newRender(videoId), await newRender(videoId)];
    const analyze = (_task: unknown, options = {}) => host.untilStopped(options);
    const worker = await workers.newWorker({ host: { ...host, analyze } });
    const making = worker.run(owner.jobId, never);
    await eventually(async () =>
      expect(await workers.kept(videoId)).toMatchObject([{ maker_job_id: owner.jobId }]),
    );
    const running = workers.perform(waiting);
    await cancelRender(fixture.db, fixture.customerId, owner.renderId);
    worker.checkCancelled(owner.jobId);
    await Promise.all([making, running]);
    const [frames] = await analyzedFrames([waiting]);
    expect(frames).toBeGreaterThan(0);
  });
});
