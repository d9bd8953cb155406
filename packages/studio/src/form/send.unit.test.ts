import { LipSync, type PreparationRecord, type RenderRecord } from '@lipsync/client';
import { type Choice } from './choice';
import { sendPreparation, sendRender, Unanswered } from './send';

const BASE = 'https://lipsync.example.com';
const STORE = 'https://store.example.com/upl_1';

const json = (status: number, body: object): Response => new Response(JSON.stringify(body), { status });
const refusal = (status: number, code: string): Response =>
  json(status, { error: { code, message: 'For a person.', retryable: false } });
const RENDER = { id: 'ren_1' } as RenderRecord;
const PREPARATION = { id: 'prp_1' } as PreparationRecord;

/** A service that takes every upload, and answers creates with these in turn. */
function service(...replies: (Response | Error)[]) {
  const puts: string[] = [];
  const created: Record<string, unknown>[] = [];
  const client = new LipSync({
    apiKey: `svc_${'a1'.repeat(32)}`,
    baseUrl: BASE,
    maxRetries: 0,
    fetch: async (url, { method, body }) => {
      if (method === 'PUT') {
        await new Response(body).arrayBuffer();
        puts.push(url);
        return new Response();
      }
      if (url === `${BASE}/v1/uploads`)
        return json(201, {
          id: 'upl_1',
          upload_url: STORE,
          expires_at: '2999-01-01T00:00:00Z',
          required_headers: {},
        });
      if (url === `${BASE}/v1/uploads/upl_1/complete`) return json(202, { id: `ast_${puts.length}` });
      created.push((await new Response(body).json()) as Record<string, unknown>);
      const reply = replies.shift();
      if (reply instanceof Response) return reply;
      throw reply ?? new Error('nothing more was expected');
    },
  });
  return { client, puts, created };
}

const file = (name: string, type: string): Choice => ({
  kind: 'file',
  file: new File(['bytes'], name, { type }),
  seconds: null,
});
const chosen = () => ({
  video: file('face.mp4', 'video/mp4'),
  voice: file('voice.wav', 'audio/wav'),
  engines: ['musetalk'] as const,
  syncMode: 'loop' as const,
});
const options = () => ({
  signal: new AbortController().signal,
  onUpload: () => undefined,
  onUploaded: () => undefined,
});
const LOST = new TypeError('fetch failed');

it('asks again under the same key, and sends no bytes again, when an answer was lost', async () => {
  const { client, puts, created } = service(LOST, json(202, RENDER), json(202, RENDER));
  const [unanswered, choices] = [new Unanswered(), chosen()];
  await expect(sendRender(client, unanswered, choices, options())).rejects.toThrow('fetch failed');
  await sendRender(client, unanswered, choices, options());
  expect(created[1]).toEqual(created[0]);
  expect(puts).toHaveLength(2);
  await sendRender(client, unanswered, choices, options());
  expect(created[2]).not.toEqual(created[0]);
});

it('uses another key for other choices', async () => {
  const { client, created } = service(LOST, json(202, RENDER));
  const [unanswered, choices] = [new Unanswered(), chosen()];
  await expect(sendRender(client, unanswered, choices, options())).rejects.toThrow('fetch failed');
  await sendRender(client, unanswered, { ...choices, syncMode: 'bounce' }, options());
  expect(created[1]?.['idempotency_key']).not.toBe(created[0]?.['idempotency_key']);
});

it('keeps what was uploaded when a render is refused, unless it is the asset that is refused', async () => {
  const { client, puts } = service(
    refusal(429, 'concurrency_limit_exceeded'),
    refusal(410, 'asset_expired'),
    json(202, RENDER),
  );
  const [unanswered, choices] = [new Unanswered(), chosen()];
  const send = () => sendRender(client, unanswered, choices, options());
  await expect(send()).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
  await expect(send()).rejects.toMatchObject({ code: 'asset_expired' });
  expect(puts).toHaveLength(2);
  await send();
  expect(puts).toHaveLength(4);
});

it('does not cut off the request that creates a render, which nobody could find then', async () => {
  const { client } = service(json(202, RENDER));
  const controller = new AbortController();
  const record = await sendRender(client, new Unanswered(), chosen(), {
    ...options(),
    signal: controller.signal,
    onUploaded: () => controller.abort(),
  });
  expect(record.id).toBe(RENDER.id);
});

it('creates nothing once it was ended during the uploads', async () => {
  const { client, created } = service();
  const controller = new AbortController();
  const sent = sendRender(client, new Unanswered(), chosen(), {
    ...options(),
    signal: controller.signal,
    onUpload: () => controller.abort(),
  });
  await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  expect(created).toEqual([]);
});

it('goes on with a preparation that was asked for before, until it has ended', async () => {
  const { client, puts, created } = service(...Array.from({ length: 3 }, () => json(202, PREPARATION)));
  const [unanswered, { video }] = [new Unanswered(), chosen()];
  for (let times = 0; times < 2; times += 1) await sendPreparation(client, unanswered, video, options());
  unanswered.forget();
  await sendPreparation(client, unanswered, video, options());
  const keys = created.map(({ idempotency_key: key }) => key);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
  expect(puts).toHaveLength(1);
});
