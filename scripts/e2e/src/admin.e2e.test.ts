import type { Delivery } from '@lipsync/contract';
import { verifyWebhookSignature } from '@lipsync/domain';
import {
  type ApiClient,
  createApiClient,
  provisionCustomer,
  SAMPLE_AUDIO,
  SAMPLE_VIDEO,
  type StackCustomer,
} from '@lipsync/local-stack';
import {
  eventually,
  expectContract,
  type HttpsReceiver,
  type ReceivedRequest,
  startHttpsReceiver,
} from '@lipsync/testkit';
import { Client } from 'pg';
import { type Admin, awaitRender, createAdmin, expectRefusal, startSystem, type System } from './system';

jest.setTimeout(120_000);

const HOST = 'hooks.example.test';
const HOOK = `https://${HOST}/hook`;
const SECRET = /^[0-9a-f]{64}$/;

interface CustomerAnswer {
  id: string;
  name: string;
  post_per_minute: number;
  open_uploads: number;
  signing_secret: string;
}

interface KeyAnswer {
  id: string;
  ends_in: string;
  last_used_at: string | null;
  revoked_at: string | null;
  api_key: string;
}

const UPLOAD = { media_type: 'audio', content_type: 'audio/wav', size_bytes: 100 } as const;

describe('the admin command', () => {
  let system: System;
  let admin: Admin;
  let hooks: HttpsReceiver;

  beforeAll(async () => {
    hooks = await startHttpsReceiver({ hostnames: [HOST] });
    system = await startSystem('admin', {
      egressRoutes: [`${HOST}:443=${hooks.address}`],
      egressCa: hooks.ca,
      // The media worker's own purge is disabled, so that only the command purges.
      serviceEnv: { PURGE_INTERVAL_SECONDS: '3600', WEBHOOK_RETRY_SCHEDULE_SECONDS: '0' },
    });
    admin = createAdmin(system);
  });
  afterAll(async () => {
    await hooks.close();
    await system.stop();
  });

  const client = (apiKey: string): ApiClient =>
    createApiClient({ baseUrl: system.description.base_url, apiKey, onAnswer: expectContract });

  const isSignedWith = ({ headers, body }: ReceivedRequest, secretHex: string): boolean =>
    verifyWebhookSignature({
      secretHex,
      header: String(headers['svc-signature']),
      deliveryId: String(headers['svc-delivery-id']),
      body,
      nowSeconds: Date.now() / 1000,
    });

  /** A customer with one key, created without the command, which is slow. */
  async function anyCustomer(): Promise<StackCustomer & { api: ApiClient }> {
    const state = system.stack.state();
    if (state === null) throw new Error('the stack was never up');
    const customer = await provisionCustomer(state, 'any');
    return { ...customer, api: client(customer.api_key) };
  }

  async function uploadSamples(api: ApiClient) {
    const [video, audio] = await Promise.all([
      api.upload(SAMPLE_VIDEO, 'video', 'video/mp4'),
      api.upload(SAMPLE_AUDIO, 'audio', 'audio/wav'),
    ]);
    return {
      video: { asset_id: video.id },
      audio: { asset_id: audio.id },
      engines: ['musetalk' as const],
      sync_mode: 'cut_off' as const,
    };
  }

  /** A render that ends at once and therefore emits an event. Returns the event's id. */
  async function newEvent(api: ApiClient): Promise<string> {
    const { id } = await api.createRender({ ...(await uploadSamples(api)), webhook_url: HOOK });
    return (await api.cancelRender(id)).webhook_event_id ?? '';
  }

  const settled = (api: ApiClient, eventId: string, status: Delivery['status']): Promise<Delivery> =>
    eventually(
      async () => {
        const delivery = await api.getWebhook(eventId);
        expect(delivery.status).toBe(status);
        return delivery;
      },
      { deadlineMs: 30_000 },
    );

  describe('customers', () => {
    it('creates a customer who can work at once, within limits that can be changed and reset', async () => {
      const customer = await admin.json<CustomerAnswer>(
        ...['customers', 'create', 'Aurora Studios', '--open-uploads', '1'],
      );
      expect(customer).toMatchObject({ name: 'Aurora Studios', open_uploads: 1, post_per_minute: 300 });
      expect(customer.signing_secret).toMatch(SECRET);
      const api = client((await admin.json<KeyAnswer>('keys', 'issue', customer.id)).api_key);
      const fillUp = async (): Promise<void> => {
        await api.createUpload(UPLOAD);
        await expectRefusal(api.createUpload(UPLOAD), 429, 'concurrency_limit_exceeded');
      };
      const setTo = (value: string) =>
        admin.json<CustomerAnswer>('customers', 'limits', customer.id, '--open-uploads', value);
      await fillUp();
      expect(await setTo('2')).toMatchObject({ id: customer.id, open_uploads: 2 });
      await fillUp();
      expect(await setTo('default')).toMatchObject({ open_uploads: 50 });
      await api.createUpload(UPLOAD);
    });

    it('lists them as text and as JSON, without a secret', async () => {
      const { id, signing_secret: secret } = await anyCustomer();
      const listed = await admin.json<CustomerAnswer[]>('customers', 'list');
      expect(listed).toContainEqual(expect.objectContaining({ id, name: 'any', open_uploads: 50 }));
      expect(JSON.stringify(listed)).not.toContain(secret);

      const [head, ...rows] = (await admin.text('customers', 'list')).trimEnd().split('\n');
      expect(head).toMatch(/^id +name +created_at +post_per_minute/);
      expect(rows).toHaveLength(listed.length);
      expect(rows.find((row) => row.startsWith(id))).toMatch(/ any +\d{4}-\d\d-\d\dT[\d:.]+Z +300 /);
    });

    it('prints a new one as text with one line per field', async () => {
      const lines = (await admin.text('customers', 'create', 'Borealis')).trimEnd().split('\n');
      expect(lines).toContainEqual(expect.stringMatching(/^name +Borealis$/));
      expect(lines).toContainEqual(expect.stringMatching(/^signing_secret +[0-9a-f]{64}$/));
    });
  });

  describe('keys', () => {
    it('revokes a key from the next request on, while another key of the customer keeps working', async () => {
      const { id, api } = await anyCustomer();
      const second = await admin.json<KeyAnswer>('keys', 'issue', id);
      const revoked = client(second.api_key);
      await revoked.createUpload(UPLOAD);
      expect(await admin.json('keys', 'revoke', second.id)).toEqual({ id: second.id, revoked: true });
      const refusal = await expectRefusal(revoked.createUpload(UPLOAD), 401, 'invalid_api_key');
      // A revoked key is refused in the same words as one that never existed.
      const never = client(`svc_${'0'.repeat(64)}`).createUpload(UPLOAD);
      expect(refusal).toEqual(await expectRefusal(never, 401, 'invalid_api_key'));
      await api.createUpload(UPLOAD);
    });

    it('lists the state of the keys, and never a key itself', async () => {
      const { id, api_key: first, api } = await anyCustomer();
      await api.createUpload(UPLOAD);
      const second = await admin.json<KeyAnswer>('keys', 'issue', id);
      await admin.json('keys', 'revoke', second.id);
      const listed = await admin.json<KeyAnswer[]>('keys', 'list', id);
      expect(listed).toMatchObject([
        { ends_in: first.slice(-4), revoked_at: null },
        { id: second.id, ends_in: second.api_key.slice(-4), last_used_at: null },
      ]);
      expect(Date.parse(listed[0]?.last_used_at ?? '')).not.toBeNaN();
      expect(Date.parse(listed[1]?.revoked_at ?? '')).not.toBeNaN();
      const text = await admin.text('keys', 'list', id);
      expect(text).toMatch(/^id +ends_in +created_at +last_used_at +revoked_at$/m);
      for (const secret of [first, second.api_key])
        expect(text + JSON.stringify(listed)).not.toContain(secret);
    });
  });

  describe('webhooks', () => {
    it('signs the next delivery with the new secret after a rotation', async () => {
      const { api, ...customer } = await anyCustomer();
      const rotated = await admin.json<{ customer_id: string; signing_secret: string }>(
        'secrets',
        'rotate',
        customer.id,
      );
      expect(rotated).toMatchObject({ customer_id: customer.id });
      expect(rotated.signing_secret).toMatch(SECRET);
      const eventId = await newEvent(api);
      await settled(api, eventId, 'delivered');
      const request = hooks.requests.find(({ headers }) => headers['svc-event-id'] === eventId);
      if (request === undefined) throw new Error('nothing was delivered');
      expect(isSignedWith(request, rotated.signing_secret)).toBe(true);
      expect(isSignedWith(request, customer.signing_secret)).toBe(false);
    });

    it('redelivers an event: the same event and bytes under a new delivery id', async () => {
      const { api, ...customer } = await anyCustomer();
      hooks.reply({ status: 500 });
      const eventId = await newEvent(api);
      const failed = await settled(api, eventId, 'failed');
      hooks.reply({ status: 200 });
      const answer = await admin.json<{ delivery_id: string }>('webhooks', 'redeliver', eventId);
      expect(answer).toMatchObject({ event_id: eventId, status: 'pending' });
      expect(answer.delivery_id).not.toBe(failed.delivery_id);

      const delivered = await settled(api, eventId, 'delivered');
      expect(delivered).toMatchObject({ id: eventId, delivery_id: answer.delivery_id, attempts: 1 });
      const requests = hooks.requests.filter(({ headers }) => headers['svc-event-id'] === eventId);
      expect(requests.map(({ headers }) => headers['svc-delivery-id'])).toEqual([
        failed.delivery_id,
        failed.delivery_id,
        answer.delivery_id,
      ]);
      expect(new Set(requests.map(({ body }) => body.toString('utf8'))).size).toBe(1);
      expect(requests.every((request) => isSignedWith(request, customer.signing_secret))).toBe(true);
    });
  });

  it('purges what has expired, reports how much, and leaves everything else', async () => {
    const { api } = await anyCustomer();
    const request = await uploadSamples(api);
    const { id } = await api.createRender(request);
    const url = (await awaitRender(api, id)).engines?.[0]?.output?.url ?? '';
    const download = async (): Promise<number> => {
      const response = await fetch(url);
      await response.body?.cancel();
      return response.status;
    };
    expect(await admin.json('purge')).toMatchObject({ purged: 0 });
    expect(await download()).toBe(200);

    await expire(id);
    expect(await admin.json('purge')).toEqual({ purged: 1, deleted_rows: 0, failures: 0 });
    expect(await download()).toBe(404);
    await expectRefusal(api.getRender(id), 410, 'render_expired');
    // The render's inputs are still available to the next one.
    expect(await api.createRender(request)).toMatchObject({ status: 'accepted' });
    expect(await admin.text('purge')).toMatch(/^purged +0\ndeleted_rows +0\nfailures +0\n$/);
  });

  it('finds nothing broken or unsafe in the store of the stack, whose uploads a pair of their own signs', async () => {
    const findings = await admin.json<{ check: string; verdict: string }[]>('bucket', 'check');
    expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(findings.map(({ check }) => check)).toContain('credentials of uploads');
  });

  it.each([
    ['an unknown customer', ['keys', 'issue', 'cus_nobody'], /there is no customer cus_nobody/],
    ['an unknown key', ['keys', 'revoke', 'key_none'], /there is no active key key_none/],
    ['an unknown render', ['renders', 'show', 'ren_none'], /there is no render ren_none/],
    ['an unknown event', ['webhooks', 'redeliver', 'evt_none'], /there is no event evt_none/],
    ['limits of nobody', ['customers', 'limits', 'cus_x', '--open-uploads', '1'], /there is no customer/],
    ['a limit that is none', ['customers', 'create', 'x', '--open-uploads', '-1'], /positive whole number/],
    ['an unknown command', ['customers', 'delete', 'x'], /unknown command/],
  ])('ends with a failure and one sentence for %s', async (_, args, sentence) => {
    const { exitCode, stdout, stderr } = await admin.run(...args, '--json');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/ at .*\.js/);
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
