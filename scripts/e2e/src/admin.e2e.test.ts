import type { Delivery } from '@lipsync/contract';
import { verifyWebhookSignature } from '@lipsync/domain';
import {
  eventually,
  type HttpsReceiver,
  makeFaceVideo,
  makeTone,
  type ReceivedRequest,
  testFolder,
} from '@lipsync/testkit';
import { Client } from 'pg';
import {
  type Admin,
  awaitRender,
  createAdmin,
  createClient,
  expectRefusal,
  type SharedSystem,
  shareSystem,
} from './system';

const UPLOAD = { media_type: 'audio', content_type: 'audio/wav', size_bytes: 100 } as const;

let system: SharedSystem;
let admin: Admin;

beforeAll(async () => {
  system = await shareSystem();
  admin = createAdmin(system);
});
afterAll(() => system.stop());

const clientWith = (apiKey: string) => createClient(system.description.base_url, apiKey);

it('creates a customer who can work at once, within limits that can be changed, until the key is revoked', async () => {
  const customer = await admin.json<{ id: string }>(
    ...['customers', 'create', 'Aurora Studios', '--open-uploads', '1'],
  );
  expect(customer).toMatchObject({ name: 'Aurora Studios', open_uploads: 1, post_per_minute: 300 });
  const key = await admin.json<{ id: string; api_key: string }>('keys', 'issue', customer.id);
  const api = clientWith(key.api_key);
  await api.uploads.begin(UPLOAD);
  await expectRefusal(api.uploads.begin(UPLOAD), 429, 'concurrency_limit_exceeded');
  const limits = ['customers', 'limits', customer.id, '--open-uploads', 'default'];
  expect(await admin.json(...limits)).toMatchObject({ open_uploads: 50 });
  await api.uploads.begin(UPLOAD);

  expect(await admin.json('keys', 'revoke', key.id)).toEqual({ id: key.id, revoked: true });
  const refusal = await expectRefusal(api.uploads.begin(UPLOAD), 401, 'invalid_api_key');
  // A revoked key is refused in the same words as one that never existed.
  const never = clientWith(`svc_${'0'.repeat(64)}`).uploads.begin(UPLOAD);
  expect(refusal).toEqual(await expectRefusal(never, 401, 'invalid_api_key'));
});

it('suspends a customer at once, and serves it again when it is resumed, on record', async () => {
  const { id } = await admin.json<{ id: string }>('customers', 'create', 'Borealis Studios');
  const key = await admin.json<{ api_key: string }>('keys', 'issue', id);
  const api = clientWith(key.api_key);
  await api.uploads.begin(UPLOAD);
  await admin.json('customers', 'suspend', id, '--as', 'ada');
  await expectRefusal(api.uploads.begin(UPLOAD), 401, 'invalid_api_key');
  await admin.json('customers', 'resume', id, '--as', 'bob');
  await api.uploads.begin(UPLOAD);
  expect(await admin.json('audit', '--customer', id)).toMatchObject([
    { command: 'customers create' },
    { command: 'keys issue' },
    { command: 'customers suspend', actor: 'ada' },
    { command: 'customers resume', actor: 'bob' },
  ]);
});

describe('webhooks', () => {
  let hooks: HttpsReceiver;
  beforeAll(async () => {
    hooks = await system.receive('hooks.example.test');
  });
  afterAll(() => hooks.close());

  const settled = (eventId: string, status: Delivery['status']): Promise<Delivery> =>
    eventually(async () => {
      const delivery = await system.api.webhooks.get(eventId);
      expect(delivery.status).toBe(status);
      return delivery;
    });

  const isSignedWith =
    (secretHex: string) =>
    ({ headers, body }: ReceivedRequest): boolean =>
      verifyWebhookSignature({
        secretHex,
        header: String(headers['svc-signature']),
        deliveryId: String(headers['svc-delivery-id']),
        body,
        nowSeconds: Date.now() / 1000,
      });

  it('are signed with a rotated secret at once, and redelivered as the same event under a new delivery id', async () => {
    const { api, customer } = system;
    const rotated = await admin.json<{ signing_secret: string }>('secrets', 'rotate', customer.id);
    hooks.reply({ status: 500 });
    // A render that ends at once and therefore emits an event.
    const media = { url: 'https://media.example.test/nothing' };
    const { id } = await api.renders.create({
      video: media,
      audio: media,
      engines: ['musetalk'],
      sync_mode: 'cut_off',
      webhook_url: 'https://hooks.example.test/hook',
    });
    const { webhook_event_id: eventId = '' } = await api.renders.cancel(id);
    const failed = await settled(eventId, 'failed');
    hooks.reply({ status: 200 });
    const answer = await admin.json<{ delivery_id: string }>('webhooks', 'redeliver', eventId);
    expect(answer).toMatchObject({ event_id: eventId, status: 'pending' });
    expect(answer.delivery_id).not.toBe(failed.delivery_id);

    const delivered = await settled(eventId, 'delivered');
    expect(delivered).toMatchObject({ id: eventId, delivery_id: answer.delivery_id, attempts: 1 });
    const requests = hooks.requests.filter(({ headers }) => headers['svc-event-id'] === eventId);
    expect(requests.map(({ headers }) => headers['svc-delivery-id'])).toEqual([
      failed.delivery_id,
      failed.delivery_id,
      answer.delivery_id,
    ]);
    expect(new Set(requests.map(({ body }) => body.toString('utf8'))).size).toBe(1);
    expect(requests.every(isSignedWith(rotated.signing_secret))).toBe(true);
    expect(requests.some(isSignedWith(customer.signing_secret))).toBe(false);
  });
});

describe('purge', () => {
  const at = testFolder();

  it('deletes what has expired, reports how much, and leaves everything else', async () => {
    const { api } = system;
    const [clip, voice] = [at('short.mp4'), at('voice.wav')];
    await makeFaceVideo(clip, { frames: 10, filters: 'null' });
    await makeTone(voice, { seconds: 0.4 });
    const [video, audio] = await Promise.all([
      api.uploads.create(clip, { mediaType: 'video' }),
      api.uploads.create(voice, { mediaType: 'audio' }),
    ]);
    const request = {
      video: { asset_id: video.id },
      audio: { asset_id: audio.id },
      engines: ['musetalk' as const],
      sync_mode: 'cut_off' as const,
    };
    const { id } = await api.renders.create(request);
    const url = (await awaitRender(api, id)).engines?.[0]?.output?.url ?? '';
    const download = async (): Promise<number> => {
      const response = await fetch(url);
      await response.body?.cancel();
      return response.status;
    };
    expect(await download()).toBe(200);

    await expire(id);
    expect(await admin.json('purge')).toEqual({ purged: 1, deleted_rows: 0, failures: 0 });
    expect(await download()).toBe(404);
    await expectRefusal(api.renders.get(id), 410, 'render_expired');
    // The render's inputs are still available to the next one.
    expect(await api.renders.create(request)).toMatchObject({ status: 'accepted' });
  });

  async function expire(renderId: string): Promise<void> {
    const database = new Client({ connectionString: system.description.postgres_url });
    await database.connect();
    await database.query(`UPDATE renders SET expires_at = now() - interval '16 minutes' WHERE id = $1`, [
      renderId,
    ]);
    await database.end();
  }
});

it('bucket check finds nothing broken or unsafe in the store of the stack, whose uploads a pair of their own signs', async () => {
  const findings = await admin.json<{ check: string; verdict: string }[]>('bucket', 'check');
  expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
  expect(findings.map(({ check }) => check)).toContain('credentials of uploads');
});

it('ends with a failure and one sentence for what does not exist', async () => {
  const { exitCode, stdout, stderr } = await admin.run('keys', 'issue', 'cus_nobody', '--json');
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toBe('admin: there is no customer cus_nobody\n');
});
