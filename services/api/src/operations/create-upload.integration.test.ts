import { createScenario } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

const REQUEST = { media_type: 'video', content_type: 'video/mp4', size_bytes: 8 };

describe('create_upload', () => {
  let api: TestApi;
  let customer: TestCustomer;
  const create = (changes: object = {}) =>
    api.operations.ok('create_upload', { key: customer.key, json: { ...REQUEST, ...changes } });
  const refuse = (changes: object) =>
    api.operations.refused('create_upload', { key: customer.key, json: { ...REQUEST, ...changes } });
  const put = (url: string, headers: Record<string, string>, body: string) =>
    fetch(url, { method: 'PUT', headers, body });

  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer();
  });
  afterAll(() => api.close());

  describe('201', () => {
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

    it("reports an expiry no later than the signature's", async () => {
      const { body } = await create();
      const signed = new URL(body.upload_url).searchParams;
      const [date = '', time = ''] = signed.get('X-Amz-Date')?.split('T') ?? [];
      const signedAt = `${date.replace(/^(....)(..)/, '$1-$2-')}T${time.replace(/^(..)(..)/, '$1:$2:')}`;
      const signedUntil = Date.parse(signedAt) + Number(signed.get('X-Amz-Expires')) * 1000;
      expect(Date.parse(body.expires_at)).toBeLessThanOrEqual(signedUntil);
    });

    it.each([
      ['video', 'VIDEO/MP4', 'video/mp4'],
      ['video', 'video/webm; codecs="vp9"', 'video/webm'],
      ['audio', 'audio/x-wav', 'audio/x-wav'],
    ])('accepts a %s as %s and signs %s', async (mediaType, contentType, essence) => {
      const { body } = await create({ media_type: mediaType, content_type: contentType });
      expect(body.required_headers['Content-Type']).toBe(essence);
    });

    it('accepts 1 byte and 256 MiB', async () => {
      for (const bytes of [1, 268_435_456]) {
        const { body } = await create({ size_bytes: bytes });
        expect(body.required_headers['Content-Length']).toBe(String(bytes));
      }
    });

    it('has no idempotency key: a repeated request creates a second upload', async () => {
      const options = { key: customer.key, json: REQUEST, headers: { 'Idempotency-Key': 'k' } };
      const first = await api.operations.ok('create_upload', options);
      expect((await api.operations.ok('create_upload', options)).body.id).not.toBe(first.body.id);
    });

    it('does not log the signed URL', async () => {
      const signature = new URL((await create()).body.upload_url).searchParams.get('X-Amz-Signature');
      expect(JSON.stringify(api.logLines())).not.toContain(signature);
    });
  });

  describe('400', () => {
    it.each([
      ['no bytes', { size_bytes: 0 }],
      ['257 MiB', { size_bytes: 257 * 1024 * 1024 }],
      ['one byte above the limit', { size_bytes: 268_435_457 }],
      ['half a byte', { size_bytes: 1.5 }],
      ['a size as text', { size_bytes: '8' }],
      ['no size', { size_bytes: undefined }],
      ['an unknown media_type', { media_type: 'image' }],
      ['an unknown property', { filename: 'a.mp4' }],
    ])('invalid_request for %s', async (_, changes) => {
      expect(await refuse(changes)).toMatchObject({ status: 400, code: 'invalid_request' });
    });

    it.each([
      ['video', 'audio/wav'],
      ['audio', 'video/mp4'],
      ['video', 'text/html'],
      ['video', ''],
      ['video', 'video/mp4\r\nX-Injected: 1'],
    ])('unsupported_content_type for %s as %j', async (mediaType, contentType) => {
      const refused = await refuse({ media_type: mediaType, content_type: contentType });
      expect(refused).toMatchObject({ status: 400, code: 'unsupported_content_type' });
    });
  });

  describe('429', () => {
    it('concurrency_limit_exceeded with too many open uploads, until one is completed', async () => {
      const limited = await api.newCustomer({ openUploadsMax: 2 });
      const scenario = createScenario(api, limited);
      const first = await scenario.upload();
      await scenario.upload();
      const options = { key: limited.key, json: REQUEST };
      const refused = await api.operations.refused('create_upload', options);
      expect(refused).toMatchObject({ status: 429, code: 'concurrency_limit_exceeded' });
      expect(refused.message).toContain('At most 2 uploads');
      await api.operations.ok('complete_upload', { key: limited.key, id: first.id });
      await api.operations.ok('create_upload', options);
    });
  });
});
