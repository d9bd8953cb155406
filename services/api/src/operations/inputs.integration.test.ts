import { AUDIO_URL, createScenario, type Scenario, VIDEO_URL } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

const UPLOAD = { media_type: 'video', content_type: 'video/mp4', size_bytes: 8 };

let api: TestApi;
let customer: TestCustomer;
let scenario: Scenario;
beforeAll(async () => {
  api = await startApi();
  customer = await api.newCustomer({ postPerMinute: 1000 });
  scenario = createScenario(api, customer);
});
afterAll(() => api.close());

describe('Location', () => {
  it('of every create leads to what was created, of an upload to its asset', async () => {
    const { key } = customer;
    const json = {
      video: { url: VIDEO_URL },
      audio: { url: AUDIO_URL },
      engines: ['musetalk'],
      sync_mode: 'loop',
      idempotency_key: 'twice',
    };
    for (const create of ['first', 'again']) {
      const { body, headers } = await api.operations.ok('create_render', { key, json });
      expect([create, headers.get('location')]).toEqual([create, body.status_url]);
    }
    const preparation = await api.operations.ok('create_preparation', { key, json: { video: json.video } });
    expect(preparation.headers.get('location')).toBe(preparation.body.status_url);
    const asset = await api.operations.ok('create_asset', {
      key,
      json: { url: VIDEO_URL, media_type: 'video' },
    });
    expect(asset.headers.get('location')).toBe(`https://api.example.com/v1/assets/${asset.body.id}`);
    const upload = await api.operations.ok('create_upload', { key, json: UPLOAD });
    expect(upload.headers.get('location')).toBe(`https://api.example.com/v1/assets/${upload.body.asset_id}`);
  });
});

describe('create_asset', () => {
  const create = (json: object) => api.operations.ok('create_asset', { key: customer.key, json });

  it('returns a pending asset with placeholders and queues its download', async () => {
    const { body } = await create({ url: AUDIO_URL, media_type: 'audio' });
    expect(body).toMatchObject({
      media_type: 'audio',
      status: 'pending',
      stage: 'queued',
      media: { size_bytes: 0, duration_seconds: 0, codec: 'unknown' },
    });
    const job = { assetId: body.id, kind: 'ingest', queue: 'media' };
    expect(await api.db.prisma.job.count({ where: job })).toBe(1);
  });

  it('never shows or logs the source URL, which may be signed', async () => {
    const url = `${VIDEO_URL}?X-Amz-Signature=do-not-repeat`;
    const { body } = await create({ url, media_type: 'video' });
    expect(JSON.stringify(body)).not.toContain('do-not-repeat');
    expect(JSON.stringify(api.logLines())).not.toContain('do-not-repeat');
  });

  it.each([
    ['an unknown property', { url: VIDEO_URL, media_type: 'video', name: 'x' }, 'invalid_request'],
    ['http', { url: 'http://media.example.com/a.mp4', media_type: 'video' }, 'invalid_media_url'],
    ['a private address', { url: 'https://[fd00::1]/a.mp4', media_type: 'video' }, 'invalid_media_url'],
  ])('is 400 for %s', async (_, json, code) => {
    const refused = await api.operations.refused('create_asset', { key: customer.key, json });
    expect(refused).toMatchObject({ status: 400, code });
  });
});

describe('create_upload', () => {
  const create = (changes: object = {}) =>
    api.operations.ok('create_upload', { key: customer.key, json: { ...UPLOAD, ...changes } });
  const put = (url: string, headers: Record<string, string>, body: string) =>
    fetch(url, { method: 'PUT', headers, body });

  it('returns an asset that awaits its bytes, and where to send them', async () => {
    const { body } = await create();
    expect(body).toMatchObject({
      status: 'awaiting_upload',
      method: 'PUT',
      required_headers: { 'Content-Type': 'video/mp4', 'Content-Length': '8' },
      complete_url: `https://api.example.com/v1/uploads/${body.id}/complete`,
    });
    const asset = await api.operations.ok('get_asset', { key: customer.key, id: body.asset_id });
    expect(asset.body).toMatchObject({
      status: 'awaiting_upload',
      content_type: 'video/mp4',
      media: { size_bytes: 8, duration_seconds: 0, codec: 'unknown' },
    });
  });

  it('signs exactly type and length: the store accepts these bytes and no others', async () => {
    const { body } = await create();
    const signed = new URL(body.upload_url).searchParams.get('X-Amz-SignedHeaders');
    expect(signed).toBe('content-length;content-type;host');
    expect((await put(body.upload_url, body.required_headers, '12345678')).status).toBe(200);

    const other = (await create()).body;
    const type = { 'Content-Type': 'video/mp4' };
    expect((await put(other.upload_url, type, '123456789')).status).toBe(403);
    expect((await put(other.upload_url, type, '1234567')).status).toBe(403);
    expect((await put(other.upload_url, { 'Content-Type': 'text/html' }, '12345678')).status).toBe(403);
    const elsewhere = other.upload_url.replace(other.id, body.id);
    expect((await put(elsewhere, type, '12345678')).status).toBe(403);
  });

  it("reports an expiry no later than the signature's, which is not logged", async () => {
    const { body } = await create();
    const signed = new URL(body.upload_url).searchParams;
    const [date = '', time = ''] = signed.get('X-Amz-Date')?.split('T') ?? [];
    const signedAt = `${date.replace(/^(....)(..)/, '$1-$2-')}T${time.replace(/^(..)(..)/, '$1:$2:')}`;
    const signedUntil = Date.parse(signedAt) + Number(signed.get('X-Amz-Expires')) * 1000;
    expect(Date.parse(body.expires_at)).toBeLessThanOrEqual(signedUntil);
    expect(JSON.stringify(api.logLines())).not.toContain(signed.get('X-Amz-Signature'));
  });

  it('signs the essence of a content type', async () => {
    const { body } = await create({ content_type: 'VIDEO/WebM; codecs="vp9"' });
    expect(body.required_headers['Content-Type']).toBe('video/webm');
  });

  it.each([
    ['invalid_request', { size_bytes: 257 * 1024 * 1024 }],
    ['unsupported_content_type', { content_type: 'video/mp4\r\nX-Injected: 1' }],
  ])('is 400 %s for %j', async (code, changes) => {
    const json = { ...UPLOAD, ...changes };
    const refused = await api.operations.refused('create_upload', { key: customer.key, json });
    expect(refused).toMatchObject({ status: 400, code });
  });

  it('is 429 concurrency_limit_exceeded with too many open uploads', async () => {
    const limited = await api.newCustomer({ openUploadsMax: 1 });
    await createScenario(api, limited).upload({ put: false });
    const refused = await api.operations.refused('create_upload', { key: limited.key, json: UPLOAD });
    expect(refused).toMatchObject({ status: 429, code: 'concurrency_limit_exceeded' });
    expect(refused.message).toContain('At most 1 uploads');
  });
});

describe('complete_upload', () => {
  const complete = (id: string) => api.operations.ok('complete_upload', { key: customer.key, id });
  const refuse = (id: string) => api.operations.refused('complete_upload', { key: customer.key, id });
  const countJobs = (assetId: string) => api.db.prisma.job.count({ where: { assetId } });

  it('returns the current asset, and queues its ingest once', async () => {
    const upload = await scenario.upload();
    const { body } = await complete(upload.id);
    expect(body).toMatchObject({ id: upload.assetId, status: 'pending', stage: 'queued' });
    await api.worker.ingest(upload.assetId);
    expect((await complete(upload.id)).body.status).toBe('ready');
    expect(await countJobs(upload.assetId)).toBe(1);
  });

  it('pins the current bytes: the entity tag is recorded, and what is PUT later does not match it', async () => {
    const upload = await scenario.upload({ bytes: Buffer.from('first') });
    await complete(upload.id);
    const { etag, stagingKey } = await api.db.prisma.upload.findUniqueOrThrow({ where: { id: upload.id } });
    expect(etag).toBe((await api.storage.head(stagingKey))?.etag);
    await api.storage.put(stagingKey, Buffer.from('other'), { contentType: 'video/mp4' });
    const frozen = api.storage.copy(stagingKey, `assets/${upload.assetId}/x`, { ifMatch: etag ?? '' });
    await expect(frozen).rejects.toMatchObject({ kind: 'precondition_failed' });
  });

  it('is accepted after the expiry when the bytes have arrived', async () => {
    const upload = await scenario.upload();
    await scenario.expire(upload.id);
    expect((await complete(upload.id)).body.status).toBe('pending');
  });

  it('is 409 upload_incomplete before the bytes arrived; the upload stays open', async () => {
    const upload = await scenario.upload({ put: false });
    expect(await refuse(upload.id)).toMatchObject({ status: 409, code: 'upload_incomplete' });
    await upload.putBytes();
    expect((await complete(upload.id)).body.status).toBe('pending');
  });

  it('is 409 upload_size_mismatch when the stored object has another size', async () => {
    const upload = await scenario.upload({ put: false });
    const bytes = Buffer.from('more than was declared');
    await api.storage.put(`uploads/${upload.id}`, bytes, { contentType: 'video/mp4' });
    expect(await refuse(upload.id)).toMatchObject({ status: 409, code: 'upload_size_mismatch' });
    expect(await countJobs(upload.assetId)).toBe(0);
  });

  it('is 410 after the grace period even with bytes, and once the asset of a completed upload has expired', async () => {
    const [late, completed] = [await scenario.upload(), await scenario.upload()];
    const expiresAt = new Date(Date.now() - 901_000);
    await api.db.prisma.upload.update({ where: { id: late.id }, data: { expiresAt } });
    await complete(completed.id);
    await scenario.expire(completed.assetId);
    for (const { id } of [late, completed])
      expect(await refuse(id)).toMatchObject({ status: 410, code: 'upload_expired' });
  });

  it('is 503 while the store does not answer, and works afterwards', async () => {
    const upload = await scenario.upload();
    api.s3.faults.set({ slowDownRate: 1, applies: ({ method }) => method === 'HEAD' });
    const refused = await refuse(upload.id);
    api.s3.faults.clear();
    expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect((await complete(upload.id)).body.status).toBe('pending');
  });
});
