import { newId } from '@lipsync/domain';
import { createScenario, type Scenario } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

describe('complete_upload', () => {
  let api: TestApi;
  let customer: TestCustomer;
  let scenario: Scenario;
  const complete = (id: string) => api.operations.ok('complete_upload', { key: customer.key, id });
  const refuse = (id: string) => api.operations.refused('complete_upload', { key: customer.key, id });
  const countJobs = (assetId: string) => api.db.prisma.job.count({ where: { assetId } });

  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer({ postPerMinute: 1000 });
    scenario = createScenario(api, customer);
  });
  afterAll(() => api.close());

  describe('202', () => {
    it('returns the pending asset and queues its ingest', async () => {
      const upload = await scenario.upload();
      const { body } = await complete(upload.id);
      expect(body).toMatchObject({ id: upload.assetId, status: 'pending', stage: 'queued' });
      expect(await countJobs(upload.assetId)).toBe(1);
    });

    it('pins the current bytes: the entity tag is recorded and survives a later PUT', async () => {
      const upload = await scenario.upload({ bytes: Buffer.from('first') });
      await complete(upload.id);
      const { etag, stagingKey } = await api.db.prisma.upload.findUniqueOrThrow({ where: { id: upload.id } });
      expect(etag).toBe((await api.storage.head(stagingKey))?.etag);

      const { body } = await api.operations.ok('create_upload', {
        key: customer.key,
        json: { media_type: 'video', content_type: 'video/mp4', size_bytes: 5 },
      });
      expect(body.id).not.toBe(upload.id);
      await api.storage.put(stagingKey, Buffer.from('other'), { contentType: 'video/mp4' });
      const frozen = api.storage.copy(stagingKey, `assets/${upload.assetId}/x`, { ifMatch: etag ?? '' });
      await expect(frozen).rejects.toMatchObject({ kind: 'precondition_failed' });
    });

    it('returns the current asset when called again, and starts nothing', async () => {
      const upload = await scenario.upload();
      await complete(upload.id);
      expect((await complete(upload.id)).body.status).toBe('pending');
      await api.worker.ingest(upload.assetId);
      expect((await complete(upload.id)).body.status).toBe('ready');
      expect(await countJobs(upload.assetId)).toBe(1);
    });

    it('makes one transition from ten simultaneous calls, all of them accepted', async () => {
      const upload = await scenario.upload();
      const answers = await Promise.all(Array.from({ length: 10 }, () => complete(upload.id)));
      expect(new Set(answers.map(({ body }) => `${body.id} ${body.status}`))).toEqual(
        new Set([`${upload.assetId} pending`]),
      );
      expect(await countJobs(upload.assetId)).toBe(1);
    });

    it('is accepted after the expiry when the bytes have arrived', async () => {
      const upload = await scenario.upload();
      await scenario.expire(upload.id);
      expect((await complete(upload.id)).body.status).toBe('pending');
    });
  });

  describe('404', () => {
    it("is the same for an unknown, a malformed and another customer's upload", async () => {
      const foreign = await createScenario(api, await api.newCustomer()).upload();
      for (const id of [newId('upl', 0, new Uint8Array(10)), 'upl_', foreign.id]) {
        expect(await refuse(id)).toMatchObject({ status: 404, code: 'upload_not_found' });
      }
    });
  });

  describe('409', () => {
    it('upload_incomplete before the bytes arrived; the upload stays open', async () => {
      const upload = await scenario.upload({ put: false });
      expect(await refuse(upload.id)).toMatchObject({ status: 409, code: 'upload_incomplete' });
      await upload.putBytes();
      expect((await complete(upload.id)).body.status).toBe('pending');
    });

    it('upload_size_mismatch when the stored object has another size', async () => {
      const upload = await scenario.upload({ put: false });
      await api.storage.put(`uploads/${upload.id}`, Buffer.from('more than was declared'), {
        contentType: 'video/mp4',
      });
      expect(await refuse(upload.id)).toMatchObject({ status: 409, code: 'upload_size_mismatch' });
      expect(await countJobs(upload.assetId)).toBe(0);
    });
  });

  describe('410', () => {
    it('upload_expired after the expiry without bytes', async () => {
      const upload = await scenario.upload({ put: false });
      await scenario.expire(upload.id);
      expect(await refuse(upload.id)).toMatchObject({ status: 410, code: 'upload_expired' });
    });

    it('upload_expired after the grace period even with bytes', async () => {
      const upload = await scenario.upload();
      await api.db.prisma.upload.update({
        where: { id: upload.id },
        data: { expiresAt: new Date(Date.now() - 901_000) },
      });
      expect(await refuse(upload.id)).toMatchObject({ status: 410, code: 'upload_expired' });
    });

    it('upload_expired when the asset of a completed upload has expired', async () => {
      const upload = await scenario.upload();
      await complete(upload.id);
      await scenario.expire(upload.assetId);
      expect(await refuse(upload.id)).toMatchObject({ status: 410, code: 'upload_expired' });
    });
  });

  describe('503', () => {
    it('service_unavailable while the store does not answer; completing works afterwards', async () => {
      const upload = await scenario.upload();
      api.s3.faults.set({ slowDownRate: 1, applies: ({ method }) => method === 'HEAD' });
      const refused = await refuse(upload.id);
      api.s3.faults.clear();
      expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' });
      expect(refused.headers.get('retry-after')).toBe('5');
      expect((await complete(upload.id)).body.status).toBe('pending');
    });
  });
});
