import { codeOf, DAY_SECONDS, MEDIA, openScenario, type Scenario } from '../../test/scenario';
import { loadIngestWork } from '../jobs/claim';
import { completeIngest } from '../jobs/complete';
import { expireUpload } from '../maintenance/overdue';
import { getAsset } from './assets';
import { completeUpload, createUpload, type NewUpload, type StagedObject } from './uploads';

const STAGED = { sizeBytes: 1234, etag: '"abc"' };

describe('uploads', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  function upload(customerId = scenario.customerId): ReturnType<typeof createUpload> {
    const request: NewUpload = {
      customerId,
      mediaType: 'video',
      contentType: 'video/mp4',
      sizeBytes: 1234,
      ttlSeconds: 900,
      assetTtlSeconds: DAY_SECONDS,
      stagingKey: (id) => `uploads/${id}`,
    };
    return createUpload(scenario.db, request);
  }

  function complete(
    uploadId: string,
    found: StagedObject | null = STAGED,
    owner = scenario.customerId,
  ): ReturnType<typeof completeUpload> {
    return completeUpload(scenario.db, owner, uploadId, async () => found);
  }

  async function expire(uploadId: string, ago: string): Promise<void> {
    await scenario.make.query(`UPDATE uploads SET expires_at = now() - $2::interval WHERE id = $1`, [
      uploadId,
      ago,
    ]);
  }

  it('begin with an asset that declares its media', async () => {
    const { upload: row, asset } = await upload();
    expect(row).toMatchObject({
      status: 'awaiting_upload',
      stagingKey: `uploads/${row.id}`,
      assetId: asset.id,
    });
    expect(asset).toMatchObject({
      status: 'awaiting_upload',
      stage: 'awaiting_upload',
      sizeBytes: 1234,
      codec: 'unknown',
    });
    expect(row.expiresAt.getTime() - row.createdAt.getTime()).toBe(900_000);
  });

  it('stay open until the bytes have arrived with the declared size', async () => {
    const { upload: row } = await upload();
    expect(await codeOf(complete(row.id, null))).toBe('upload_incomplete');
    expect(await codeOf(complete(row.id, { ...STAGED, sizeBytes: 1233 }))).toBe('upload_size_mismatch');
    expect((await complete(row.id)).status).toBe('pending');
  });

  it('are completed once by many concurrent calls, with one ingest of the bytes that were there', async () => {
    const { upload: row, asset } = await upload();
    const assets = await Promise.all(Array.from({ length: 6 }, () => complete(row.id)));
    expect(new Set(assets.map(({ id, status }) => `${id} ${status}`))).toEqual(
      new Set([`${asset.id} pending`]),
    );
    const claim = await scenario.claim(await scenario.ingestJob(asset.id));
    expect(await loadIngestWork(scenario.db, asset.id)).toMatchObject({
      asset: { stage: 'verifying' },
      upload: { etag: STAGED.etag },
    });
    await completeIngest(scenario.db, claim, MEDIA);
    expect(await complete(row.id, null)).toMatchObject({ status: 'ready', sha256: MEDIA.sha256 });
  });

  it('stay completed if that happened after they were found to be stale', async () => {
    const { upload: row, asset } = await upload();
    await complete(row.id);
    expect(await expireUpload(scenario.db, row.id)).toBe(false);
    expect((await getAsset(scenario.db, scenario.customerId, asset.id)).status).toBe('pending');
  });

  it('can be completed a while after their expiry if the bytes are there, and no longer', async () => {
    const [late, empty, tooLate] = [await upload(), await upload(), await upload()];
    await expire(late.upload.id, '14 minutes');
    await expire(empty.upload.id, '14 minutes');
    await expire(tooLate.upload.id, '15 minutes');
    expect((await complete(late.upload.id)).status).toBe('pending');
    expect(await codeOf(complete(empty.upload.id, null))).toBe('upload_expired');
    expect(await codeOf(complete(tooLate.upload.id))).toBe('upload_expired');
  });

  it('are answered as expired once their asset has expired', async () => {
    const { upload: row, asset } = await upload();
    await complete(row.id);
    await scenario.make.query(`UPDATE assets SET expires_at = now() - interval '1 ms' WHERE id = $1`, [
      asset.id,
    ]);
    expect(await codeOf(complete(row.id))).toBe('upload_expired');
    expect(await codeOf(getAsset(scenario.db, scenario.customerId, asset.id))).toBe('asset_expired');
  });

  it('are unknown to other customers', async () => {
    const { upload: row, asset } = await upload();
    const stranger = await scenario.make.customer();
    expect(await codeOf(complete(row.id, STAGED, stranger))).toBe('upload_not_found');
    expect(await codeOf(complete('upl_nonsense'))).toBe('upload_not_found');
    expect(await codeOf(getAsset(scenario.db, stranger, asset.id))).toBe('asset_not_found');
  });

  it('never exceed the limit of open uploads, and completing or expiring one frees a place', async () => {
    const customerId = await scenario.make.customer({ openUploadsMax: 3 });
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => upload(customerId)));
    const open = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value.upload] : [],
    );
    expect(open).toHaveLength(3);
    expect(await codeOf(upload(customerId))).toBe('concurrency_limit_exceeded');
    await complete(open[0]?.id ?? '', STAGED, customerId);
    await expire(open[1]?.id ?? '', '1 second');
    await upload(customerId);
    await upload(customerId);
    await expect(upload(customerId)).rejects.toThrow('At most 3 uploads');
  });
});
