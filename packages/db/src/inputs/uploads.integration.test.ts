import { MEDIA, openScenario, type Scenario } from '../../test/scenario';
import { loadIngestWork } from '../jobs/claim';
import { completeIngest } from '../jobs/complete';
import { expireUpload } from '../maintenance/overdue';
import { getAsset } from './assets';
import { completeUpload } from './uploads';

const STAGED = { sizeBytes: 1234, etag: '"abc"' };

describe('uploads', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  const complete = (uploadId: string, owner = scenario.customerId): ReturnType<typeof completeUpload> =>
    completeUpload(scenario.db, owner, uploadId, async () => STAGED);

  it('are completed once by many concurrent calls, with one ingest of the bytes that were there', async () => {
    const { upload: row, asset } = await scenario.upload();
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
    expect(await complete(row.id)).toMatchObject({ status: 'ready', sha256: MEDIA.sha256 });
  });

  it('stay completed if that happened after they were found to be stale', async () => {
    const { upload: row, asset } = await scenario.upload();
    await complete(row.id);
    expect(await expireUpload(scenario.db, row.id)).toBe(false);
    expect((await getAsset(scenario.db, scenario.customerId, asset.id)).status).toBe('pending');
  });

  it('never exceed the limit of open uploads, and completing or expiring one frees a place', async () => {
    const customerId = await scenario.make.customer({ openUploadsMax: 3 });
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => scenario.upload(customerId)));
    const open = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value.upload] : [],
    );
    expect(open).toHaveLength(3);
    await complete(open[0]?.id ?? '', customerId);
    await scenario.make.query(`UPDATE uploads SET expires_at = now() - interval '1 second' WHERE id = $1`, [
      open[1]?.id,
    ]);
    await scenario.upload(customerId);
    await scenario.upload(customerId);
    await expect(scenario.upload(customerId)).rejects.toThrow('At most 3 uploads');
  });
});
