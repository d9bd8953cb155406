import { AUDIO_URL, VIDEO_URL } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

describe('create_asset', () => {
  let api: TestApi;
  let customer: TestCustomer;
  const create = (json: object, headers: Record<string, string> = {}) =>
    api.operations.ok('create_asset', { key: customer.key, json, headers });
  const refuse = (json: object) => api.operations.refused('create_asset', { key: customer.key, json });

  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer();
  });
  afterAll(() => api.close());

  describe('202', () => {
    it('returns a pending asset with placeholders and queues its download', async () => {
      const { body } = await create({ url: AUDIO_URL, media_type: 'audio' });
      expect(body).toMatchObject({
        media_type: 'audio',
        status: 'pending',
        stage: 'queued',
        media: { size_bytes: 0, duration_seconds: 0, codec: 'unknown' },
      });
      expect(
        await api.db.prisma.job.count({ where: { assetId: body.id, kind: 'ingest', queue: 'media' } }),
      ).toBe(1);
    });

    it('never shows or logs the source URL, which may be signed', async () => {
      const url = `${VIDEO_URL}?X-Amz-Signature=do-not-repeat`;
      const { body } = await create({ url, media_type: 'video' });
      expect(JSON.stringify(body)).not.toContain('do-not-repeat');
      expect(JSON.stringify(api.logLines())).not.toContain('do-not-repeat');
    });

    it('creates a new asset each time, with or without an idempotency key', async () => {
      const json = { url: VIDEO_URL, media_type: 'video' };
      const [first, second] = [
        await create(json, { 'Idempotency-Key': 'k' }),
        await create(json, { 'Idempotency-Key': 'k' }),
      ];
      expect(first.body.id).not.toBe(second.body.id);
    });
  });

  describe('400', () => {
    it.each([
      ['no url', { media_type: 'video' }, 'invalid_request'],
      ['no media_type', { url: VIDEO_URL }, 'invalid_request'],
      ['an unknown media_type', { url: VIDEO_URL, media_type: 'image' }, 'invalid_request'],
      ['an unknown property', { url: VIDEO_URL, media_type: 'video', name: 'x' }, 'invalid_request'],
      ['a url of the wrong type', { url: 7, media_type: 'video' }, 'invalid_request'],
      ['http', { url: 'http://media.example.com/a.mp4', media_type: 'video' }, 'invalid_media_url'],
      [
        'another port',
        { url: 'https://media.example.com:444/a.mp4', media_type: 'video' },
        'invalid_media_url',
      ],
      [
        'user information',
        { url: 'https://u:p@media.example.com/a.mp4', media_type: 'video' },
        'invalid_media_url',
      ],
      ['a private address', { url: 'https://[fd00::1]/a.mp4', media_type: 'video' }, 'invalid_media_url'],
      [
        'a mapped address',
        { url: 'https://[::ffff:10.0.0.1]/a.mp4', media_type: 'video' },
        'invalid_media_url',
      ],
      ['a file', { url: 'file:///etc/passwd', media_type: 'video' }, 'invalid_media_url'],
      ['NUL in it', { url: 'https://media.example.com/a\0.mp4', media_type: 'video' }, 'invalid_media_url'],
    ])('for %s', async (_, json, expected) => {
      const { status, code } = await refuse(json);
      expect({ status, code }).toEqual({ status: 400, code: expected });
    });
  });
});
