import { type RenderRequest } from '@lipsync/contract';
import { AUDIO, MEDIA, only, openScenario, type Scenario, VIDEO } from '../../test/scenario';
import { loadAnalyzeWork, loadIngestWork, loadRenderWork } from '../jobs/claim';
import { completeAnalyze, completeIngest } from '../jobs/complete';
import { failJob } from '../jobs/fail';
import { heartbeatJob } from '../jobs/heartbeat';
import { type CreatedRender } from '../renders/create-render';
import { getRender } from '../renders/get-render';
import { findUnknownContents, getAsset, unknownAmong } from './assets';
import { getPreparation } from './preparations';

const ANALYSIS = {
  version: '1',
  analyzerVersion: 'builtin-1',
  frames: 100,
  fps: 25,
  width: 1280,
  height: 720,
  durationSeconds: 4,
};

describe('inputs', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  const renderUrls = (change: Partial<RenderRequest> = {}): Promise<CreatedRender> =>
    scenario.render({ video: VIDEO, audio: AUDIO, engines: ['musetalk', 'latentsync'], ...change });

  async function completedPreparation(sha256: string): Promise<string> {
    const { make, customerId } = scenario;
    const asset_id = await make.readyAsset({ customerId, mediaType: 'video', sha256 });
    const { preparation } = await scenario.preparation({ asset_id });
    const job = await scenario.db.prisma.job.findUniqueOrThrow({ where: { preparationId: preparation.id } });
    expect(await completeAnalyze(scenario.db, await scenario.claim(job.id), ANALYSIS)).toBe(true);
    return preparation.id;
  }

  const ingest = async (assetId: string): Promise<Awaited<ReturnType<Scenario['claim']>>> =>
    scenario.claim(await scenario.ingestJob(assetId));
  const state = async (renderId: string): Promise<Awaited<ReturnType<typeof getRender>>> =>
    getRender(scenario.db, scenario.customerId, renderId);

  it('show a render fetching and validating while they are ingested, then queued for a slot, with rising progress', async () => {
    const { render } = await renderUrls();
    const seen: [string, string, number][] = [];
    const look = async (): Promise<void> => {
      const { status, stage, progressPercent } = (await state(render.id)).render;
      seen.push([status, stage, progressPercent]);
    };
    const video = await ingest(render.videoAssetId);
    await look();
    await heartbeatJob(scenario.db, video, { leaseSeconds: 30, stage: 'downloading', progressPercent: 50 });
    await look();
    await heartbeatJob(scenario.db, video, { leaseSeconds: 30, stage: 'probing', progressPercent: 100 });
    await completeIngest(scenario.db, video, MEDIA);
    const audio = await ingest(render.audioAssetId);
    await heartbeatJob(scenario.db, audio, { leaseSeconds: 30, stage: 'probing', progressPercent: 100 });
    await look();
    expect((await getAsset(scenario.db, scenario.customerId, render.audioAssetId)).stage).toBe('probing');
    await completeIngest(scenario.db, audio, MEDIA);
    await look();
    const [job] = await scenario.jobs(render.id);
    await scenario.claim(job?.id ?? '');
    await look();
    expect(seen).toEqual([
      ['processing', 'fetching_inputs', 0],
      ['processing', 'fetching_inputs', 2],
      ['processing', 'validating_inputs', 8],
      ['processing', 'queued', 8],
      ['processing', 'preparing', 10],
    ]);
  });

  it('never show an earlier time of change, though the ingest of the other input wrote a later one', async () => {
    const { render } = await renderUrls();
    const video = await ingest(render.videoAssetId);
    // As the other ingest does that held the render's lock while this one had already read the clock.
    await scenario.make.query(`UPDATE renders SET updated_at = now() + interval '1 second'`);
    const times: Date[] = [];
    const look = async (): Promise<unknown> => times.push((await state(render.id)).render.updatedAt);
    await look();
    await heartbeatJob(scenario.db, video, { leaseSeconds: 30, stage: 'downloading', progressPercent: 50 });
    await look();
    await failJob(scenario.db, video, 'media_corrupt');
    await look();
    expect(times).toEqual([...times].sort((one, other) => one.getTime() - other.getTime()));
  });

  it('release the jobs of a render only when both inputs are ready', async () => {
    const { render } = await renderUrls();
    await completeIngest(scenario.db, await ingest(render.videoAssetId), MEDIA);
    expect((await scenario.jobs(render.id)).map(({ status }) => status)).toEqual(['blocked', 'blocked']);
    await completeIngest(scenario.db, await ingest(render.audioAssetId), MEDIA);
    const jobs = await scenario.jobs(render.id);
    expect(jobs.map(({ status }) => status)).toEqual(['queued', 'queued']);
    const claim = await scenario.claim(jobs[0]?.id ?? '');
    const work = await loadRenderWork(scenario.db, claim.engineRunId ?? '');
    expect(work).toMatchObject({
      video: { id: render.videoAssetId, sizeBytes: 1234 },
      audio: { status: 'ready' },
      preparation: null,
    });
  });

  it('release the jobs whichever of two simultaneous ingests finishes second', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { render } = await renderUrls();
      const claims = [await ingest(render.videoAssetId), await ingest(render.audioAssetId)];
      await Promise.all(claims.map((claim) => completeIngest(scenario.db, claim, MEDIA)));
      expect((await scenario.jobs(render.id)).map(({ status }) => status)).toEqual(['queued', 'queued']);
    }
  });

  it('release the jobs of a render that is created while its input becomes ready', async () => {
    for (let round = 0; round < 10; round += 1) {
      const asset = await scenario.asset();
      const claim = await ingest(asset.id);
      const [{ render }] = await Promise.all([
        scenario.render({ video: { asset_id: asset.id } }),
        completeIngest(scenario.db, claim, MEDIA),
      ]);
      expect(only(await scenario.jobs(render.id)).status).toBe('queued');
    }
  });

  describe('shared by several renders', () => {
    /** The other input of one render is ready; the second render still waits for its own. */
    async function sharing(): Promise<{ asset: string; waits: string; waitsLonger: string }> {
      const { id: asset } = await scenario.asset('audio');
      const audio = { asset_id: asset };
      const { render } = await scenario.render({ audio });
      const longer = await scenario.render({ audio, video: VIDEO });
      return { asset, waits: render.id, waitsLonger: longer.render.id };
    }

    it('advance each render as far as its own inputs allow', async () => {
      const { asset, waits, waitsLonger } = await sharing();
      const claim = await ingest(asset);
      await heartbeatJob(scenario.db, claim, { leaseSeconds: 30, stage: 'downloading', progressPercent: 50 });
      // The fetch is up to 8 % of a render: three quarters of it here, one quarter there.
      expect((await state(waits)).render).toMatchObject({ stage: 'fetching_inputs', progressPercent: 6 });
      expect((await state(waitsLonger)).render).toMatchObject({
        stage: 'fetching_inputs',
        progressPercent: 2,
      });
      await heartbeatJob(scenario.db, claim, { leaseSeconds: 30, stage: 'probing', progressPercent: 100 });
      expect((await state(waits)).render.stage).toBe('validating_inputs');
      expect((await state(waitsLonger)).render.stage).toBe('fetching_inputs');
      await completeIngest(scenario.db, claim, MEDIA);
      expect(only(await scenario.jobs(waits)).status).toBe('queued');
      expect(only(await scenario.jobs(waitsLonger)).status).toBe('blocked');
    });

    it('fail each render with an event of its own, and no other', async () => {
      const { asset, waits, waitsLonger } = await sharing();
      const other = await scenario.render();
      await failJob(scenario.db, await ingest(asset), 'media_corrupt');
      for (const id of [waits, waitsLonger]) {
        const { render, runs } = await state(id);
        expect(render).toMatchObject({ status: 'failed', errorCode: 'media_corrupt' });
        expect(only(runs)).toMatchObject({ status: 'failed', failedInput: 'audio' });
        const event = only(await scenario.events(id));
        expect(event).toMatchObject({ type: 'render.failed', deliveries: 1 });
        expect(JSON.parse(event.body)).toMatchObject({ data: { id, error: { code: 'media_corrupt' } } });
      }
      expect((await state(other.render.id)).render.status).toBe('accepted');
    });
  });

  it('fail the render and all its engines with their code if one fails, with one event', async () => {
    const { render } = await renderUrls();
    const [video, audio] = [await ingest(render.videoAssetId), await ingest(render.audioAssetId)];
    await Promise.all([
      failJob(scenario.db, video, 'media_corrupt'),
      failJob(scenario.db, audio, 'media_corrupt'),
    ]);
    const details = await state(render.id);
    expect(details.render).toMatchObject({ status: 'failed', errorCode: 'media_corrupt' });
    const failed = { status: 'failed', stage: 'failed', errorCode: 'media_corrupt', progressPercent: 0 };
    expect(details.runs).toMatchObject([failed, failed]);
    expect((await scenario.jobs(render.id)).map(({ status }) => status)).toEqual(['finished', 'finished']);
    expect(only(await scenario.events(render.id)).type).toBe('render.failed');
  });

  it('are named in the error of a render that fails because of one, in the response and in the event', async () => {
    for (const input of ['video', 'audio'] as const) {
      const { render } = await renderUrls();
      const assets = { video: render.videoAssetId, audio: render.audioAssetId };
      const other = input === 'video' ? 'audio' : 'video';
      await completeIngest(scenario.db, await ingest(assets[other]), MEDIA);
      const detail = 'The codec x is not supported.';
      const failed = await ingest(assets[input]);
      await failJob(scenario.db, failed, 'media_unsupported', detail);
      const { runs, ...details } = await state(render.id);
      expect(runs.map(({ failedInput, errorDetail }) => [failedInput, errorDetail])).toEqual([
        [input, detail],
        [input, detail],
      ]);
      const message = `"code":"media_unsupported","message":"/${input}: ${detail}"`;
      expect(only(await scenario.events(render.id)).body.split(message)).toHaveLength(4);
      expect(details.render.errorCode).toBe('media_unsupported');
      const job = await scenario.db.prisma.job.findUniqueOrThrow({ where: { id: failed.jobId } });
      expect(job.lastErrorCode).toBe('media_unsupported');
    }
  });

  it('lead a preparation to its analysis and its completed event', async () => {
    const { customerId, db } = scenario;
    const created = await scenario.preparation();
    const { id, videoAssetId } = created.preparation;
    expect(created.queues).toEqual(['media']);
    const claim = await ingest(videoAssetId);
    expect(await loadIngestWork(db, videoAssetId)).toMatchObject({
      asset: { sourceUrl: VIDEO.url },
      upload: null,
    });
    await completeIngest(db, claim, MEDIA);
    expect((await getPreparation(db, customerId, id)).preparation).toMatchObject({ stage: 'queued' });
    const job = await db.prisma.job.findUniqueOrThrow({ where: { preparationId: id } });
    const analysis = await scenario.claim(job.id);
    expect(await loadAnalyzeWork(db, id)).toMatchObject({
      video: { id: videoAssetId, objectKey: MEDIA.objectKey },
    });
    await heartbeatJob(db, analysis, { leaseSeconds: 30, stage: 'analyzing', progressPercent: 50 });
    expect((await getPreparation(db, customerId, id)).preparation).toMatchObject({
      stage: 'analyzing',
      progressPercent: 52.5,
    });
    await completeAnalyze(db, analysis, ANALYSIS);
    const { preparation, webhookEventId } = await getPreparation(db, customerId, id);
    expect(preparation).toMatchObject({
      ...ANALYSIS,
      status: 'completed',
      progressPercent: 100,
      videoSha256: MEDIA.sha256,
    });
    expect(
      await db.prisma.webhookEvent.findUniqueOrThrow({ where: { id: webhookEventId ?? '' } }),
    ).toMatchObject({
      type: 'preparation.completed',
      preparationId: id,
    });
    // As read by a caller just before the preparation ended.
    await db.prisma.preparation.update({
      where: { id },
      data: { status: 'processing', progressPercent: 99, completedAt: null },
    });
    expect((await getPreparation(db, customerId, id)).webhookEventId).toBeNull();
  });

  it('fail a preparation with their code and detail', async () => {
    const { customerId, db } = scenario;
    const { preparation } = await scenario.preparation();
    const errorDetail = 'The codec x is not supported.';
    await failJob(db, await ingest(preparation.videoAssetId), 'media_unsupported', errorDetail);
    const failed = await getPreparation(db, customerId, preparation.id);
    const failure = { status: 'failed', errorCode: 'media_unsupported', errorDetail };
    expect(failed.preparation).toMatchObject(failure);
    const event = await db.prisma.webhookEvent.findUniqueOrThrow({
      where: { id: failed.webhookEventId ?? '' },
    });
    expect(event.body).toContain(`"message":"${errorDetail}"`);
  });

  it('are accepted with a preparation of the same bytes and refused with one of different bytes, once known', async () => {
    const preparationId = await completedPreparation('c'.repeat(64));
    for (const [sha256, expected] of [
      ['c'.repeat(64), null],
      ['d'.repeat(64), 'preparation_mismatch'],
    ] as const) {
      const { render } = await renderUrls({ preparation_id: preparationId });
      await completeIngest(scenario.db, await ingest(render.audioAssetId), MEDIA);
      await completeIngest(scenario.db, await ingest(render.videoAssetId), { ...MEDIA, sha256 });
      expect((await state(render.id)).render.errorCode).toBe(expected);
    }
  });

  it('fail a render whose preparation expired while they were being fetched', async () => {
    const preparationId = await completedPreparation(MEDIA.sha256);
    const { render } = await renderUrls({ preparation_id: preparationId });
    await scenario.make.query(`UPDATE preparations SET expires_at = now() - interval '1 ms' WHERE id = $1`, [
      preparationId,
    ]);
    await completeIngest(scenario.db, await ingest(render.audioAssetId), MEDIA);
    await completeIngest(scenario.db, await ingest(render.videoAssetId), MEDIA);
    expect((await state(render.id)).render.errorCode).toBe('preparation_expired');
  });

  it('are known by their bytes to their customer, until those are purged', async () => {
    const { db, make, customerId } = scenario;
    const sha256 = 'e'.repeat(64);
    const assetId = await make.readyAsset({ customerId, mediaType: 'video', sha256 });
    const known = { customerId, sha256 };
    const unknown = [
      { customerId, sha256: 'f'.repeat(64) },
      { customerId: 'cus_other', sha256 },
    ];
    expect(new Set(await findUnknownContents(db, [known, ...unknown]))).toEqual(new Set(unknown));
    await make.query(`UPDATE assets SET purged_at = now(), object_key = NULL WHERE id = $1`, [assetId]);
    expect(await findUnknownContents(db, [known])).toEqual([known]);
    await make.query(
      `INSERT INTO feature_objects (customer_id, video_sha256, sha256, size_bytes, kept_until) VALUES ($1, 'v', $2, 1, now())`,
      [customerId, sha256],
    );
    expect(await findUnknownContents(db, [known])).toEqual([]);
  });

  it('are looked up by their bytes in indexes, however much their customer has stored', async () => {
    const { db, make } = scenario;
    await make.query(`
      INSERT INTO assets (id, customer_id, media_type, status, stage, sha256, object_key, expires_at, purged_at)
      SELECT 'ast_' || n, 'cus_large', 'video', 'ready', 'ready', md5(n::text), 'k', now(),
        CASE WHEN n % 5 > 0 THEN now() END
      FROM generate_series(1, 20000) AS n`);
    await make.query(`
      INSERT INTO feature_objects (customer_id, video_sha256, sha256, size_bytes, kept_until)
      SELECT 'cus_large', 'v' || n, md5(n::text), 1, now() FROM generate_series(1, 20000) AS n`);
    await make.query('ANALYZE assets, feature_objects');
    const contents = Array.from({ length: 3 }, (_, n) => ({ customerId: 'cus_large', sha256: `${n}` }));
    const plan = await db.prisma.$queryRaw<{ 'QUERY PLAN': string }[]>`EXPLAIN ${unknownAmong(contents)}`;
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toContain('assets_contents_idx');
    expect(text).toContain('feature_objects_customer_id_sha256_idx');
    expect(text).not.toContain('Seq Scan');
  });
});
