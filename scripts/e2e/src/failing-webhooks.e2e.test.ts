import type { Delivery, RecordResource } from '@lipsync/contract';
import { verifyWebhookSignature } from '@lipsync/domain';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import {
  eventually,
  type HttpsReceiver,
  type ReceivedRequest,
  type ReceiverReply,
  startHttpsReceiver,
} from '@lipsync/testkit';
import { startSystem, type System } from './system';

jest.setTimeout(120_000);

const HOST = 'hooks.example.test';
/** A loopback port on which nothing listens. */
const CLOSED = '127.0.0.1:1';
/** One attempt and ten retries, each due at once. */
const SCHEDULE = new Array(10).fill('0').join(',');
const ATTEMPTS = 11;

/** The receiver's reply to the `index`-th request of each path. */
const REPLIES: Readonly<Record<string, (index: number) => ReceiverReply>> = {
  '/500': () => ({ status: 500, body: 'at db-7.internal line 12' }),
  '/410': () => ({ status: 410 }),
  '/recovers': (index) => ({ status: index < 10 ? 500 : 204 }),
  '/redirect': () => ({ status: 307, headers: { location: `https://${HOST}/elsewhere` } }),
  '/reset': () => 'reset',
  '/hang': () => 'hang',
};

describe('a webhook receiver that fails', () => {
  let system: System;
  let receiver: HttpsReceiver;
  let stranger: HttpsReceiver;
  const renders = new Map<string, RecordResource>();

  const requestsTo = (path: string): ReceivedRequest[] =>
    receiver.requests.filter((request) => request.path === path);

  beforeAll(async () => {
    receiver = await startHttpsReceiver({
      hostnames: [HOST],
      script: ({ path }) => REPLIES[path]?.(requestsTo(path).length - 1) ?? { status: 204 },
    });
    // Its certificate is signed by an authority that nobody trusts.
    stranger = await startHttpsReceiver({ hostnames: ['stranger.example.test'] });
    system = await startSystem('webhooks', {
      egressRoutes: [
        `${HOST}:443=${receiver.address}`,
        `stranger.example.test:443=${stranger.address}`,
        `closed.example.test:443=${CLOSED}`,
      ],
      egressCa: receiver.ca,
      serviceEnv: { WEBHOOK_RETRY_SCHEDULE_SECONDS: SCHEDULE },
    });
    const [video, audio] = await Promise.all([
      system.api.upload(SAMPLE_VIDEO, 'video', 'video/mp4'),
      system.api.upload(SAMPLE_AUDIO, 'audio', 'audio/wav'),
    ]);
    const urls = [
      ...Object.keys(REPLIES).map((path) => `https://${HOST}${path}`),
      'https://stranger.example.test/',
      'https://closed.example.test/',
    ];
    // All at once: the hanging one must not delay the others.
    for (const url of urls) {
      const { id } = await system.api.createRender({
        video: { asset_id: video.id },
        audio: { asset_id: audio.id },
        engines: ['musetalk'],
        sync_mode: 'cut_off',
        webhook_url: url,
      });
      renders.set(url, await system.api.cancelRender(id));
    }
  });
  afterAll(async () => {
    await Promise.all([receiver.close(), stranger.close()]);
    await system.stop();
  });

  function renderFor(url: string): RecordResource {
    const render = renders.get(url);
    if (render === undefined) throw new Error(url);
    return render;
  }

  /** The delivery as get_webhook shows it, once it matches `expected`. */
  const deliveryFor = (url: string, expected: Partial<Delivery>, deadlineMs = 60_000): Promise<Delivery> =>
    eventually(
      async () => {
        const delivery = await system.api.getWebhook(renderFor(url).webhook_event_id ?? '');
        expect(delivery).toMatchObject(expected);
        return delivery;
      },
      { deadlineMs },
    );

  it('with 500 gets exactly eleven requests: the same event with new, valid signatures', async () => {
    const delivery = await deliveryFor(`https://${HOST}/500`, { status: 'failed' });
    expect(delivery).toMatchObject({ attempts: ATTEMPTS, last_http_status: 500, last_error: 'http_error' });
    expect(delivery.next_attempt_at).toBeUndefined();
    expect(JSON.stringify(delivery)).not.toContain('internal');

    const requests = requestsTo('/500');
    expect(requests).toHaveLength(ATTEMPTS);
    for (const { headers, body } of requests) {
      expect(headers).toMatchObject({ 'svc-event-id': delivery.id, 'svc-delivery-id': delivery.delivery_id });
      expect(body).toEqual(requests[0]?.body);
      const genuine = verifyWebhookSignature({
        secretHex: system.customer.signing_secret,
        header: String(headers['svc-signature']),
        deliveryId: String(headers['svc-delivery-id']),
        body,
        nowSeconds: Date.now() / 1000,
      });
      expect(genuine).toBe(true);
    }
  });

  it('with 500 ten times and then succeeds gets its event with the last attempt', async () => {
    const delivery = await deliveryFor(`https://${HOST}/recovers`, { status: 'delivered' });
    expect(delivery).toMatchObject({ attempts: ATTEMPTS, last_http_status: 204 });
    expect(delivery.last_error).toBeUndefined();
    expect(requestsTo('/recovers')).toHaveLength(ATTEMPTS);
  });

  it('with a redirect is not followed', async () => {
    const delivery = await deliveryFor(`https://${HOST}/redirect`, { status: 'failed' });
    expect(delivery).toMatchObject({ attempts: ATTEMPTS, last_http_status: 307, last_error: 'redirect' });
    expect(requestsTo('/redirect')).toHaveLength(ATTEMPTS);
    expect(requestsTo('/elsewhere')).toEqual([]);
  });

  it('with 410 Gone is retried all the same', async () => {
    const delivery = await deliveryFor(`https://${HOST}/410`, { status: 'failed' });
    expect(delivery).toMatchObject({ attempts: ATTEMPTS, last_http_status: 410, last_error: 'http_error' });
  });

  it.each([
    ['cannot be reached', 'https://closed.example.test/', 'connection_failed'],
    ['resets the connection', `https://${HOST}/reset`, 'connection_failed'],
    ['shows a certificate of an unknown authority', 'https://stranger.example.test/', 'tls_error'],
  ])('because it %s is reported by that class, without a status', async (_, url, lastError) => {
    const delivery = await deliveryFor(url, { status: 'failed' });
    expect(delivery).toMatchObject({ attempts: ATTEMPTS, last_error: lastError });
    expect(delivery.last_http_status).toBeUndefined();
  });

  it('by hanging is cut off and retried, and delays nobody', async () => {
    const url = `https://${HOST}/hang`;
    const others = [...renders.keys()].filter((other) => other !== url);
    await eventually(
      async () => {
        const deliveries = await Promise.all(others.map((other) => deliveryFor(other, {})));
        expect(deliveries.map(({ status }) => status)).not.toContain('pending');
      },
      { deadlineMs: 60_000 },
    );
    const delivery = await deliveryFor(url, { status: 'pending', last_error: 'timeout' });
    expect(delivery.last_http_status).toBeUndefined();
    expect(delivery.next_attempt_at).toBeDefined();
    await eventually(() => expect(requestsTo('/hang').length).toBeGreaterThan(1), { deadlineMs: 60_000 });
  });

  it('changes nothing about the render that it was to be told of', async () => {
    for (const render of renders.values()) expect(await system.api.getRender(render.id)).toEqual(render);
  });
});
