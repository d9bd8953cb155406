import { ApiError, ConnectionError, LipSync, UnexpectedResponse } from '.';
import { API_KEY, render } from './test/answers';
import { refusal, type Reply, type ScriptedServer, startScriptedServer } from './test/scripted-server';

let server: ScriptedServer;

// No pause before a repetition that the service does not ask for.
beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(async () => {
  jest.restoreAllMocks();
  await server.close();
});

async function start(replies: Readonly<Record<string, readonly Reply[]>>, options = {}) {
  server = await startScriptedServer(() => replies);
  return new LipSync({ apiKey: API_KEY, baseUrl: `${server.base}/`, ...options });
}

const REQUEST = {
  video: 'https://media.example.com/face.mp4',
  audio: { asset_id: 'ast_voice' },
  engines: ['musetalk'] as const,
  sync_mode: 'cut_off' as const,
};
const ACCEPTED: Reply = { status: 202, body: render({ status: 'accepted' }) };
const OUTAGES: readonly Reply[] = [
  'cut',
  refusal(503, 'service_unavailable', true),
  refusal(429, 'rate_limit_exceeded', true),
  refusal(409, 'idempotency_in_progress', true),
  { status: 502, body: Buffer.from('<html>Bad gateway</html>') },
];

it('creates one render however often the request is repeated, and another one with every call', async () => {
  const client = await start({ 'POST /v1/renders': [...OUTAGES, ACCEPTED] });
  await expect(client.renders.create(REQUEST)).resolves.toMatchObject({ id: 'ren_1' });
  await client.renders.create(REQUEST);
  const sent = server.requests.map(({ body }) => JSON.parse(body.toString()) as { idempotency_key: string });
  expect(sent[0]).toEqual({
    ...REQUEST,
    video: { url: REQUEST.video },
    idempotency_key: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
  });
  const keys = sent.map(({ idempotency_key: key }) => key);
  expect(new Set(keys.slice(0, OUTAGES.length + 1)).size).toBe(1);
  expect(keys.at(-1)).not.toBe(keys[0]);
  expect(server.requests[0]?.headers).toMatchObject({
    authorization: `Bearer ${API_KEY}`,
    'content-type': 'application/json',
  });
});

it('says why the service refused, and does not ask again where asking changes nothing', async () => {
  const client = await start({ 'GET /v1/renders/a%2Fb': [refusal(404, 'render_not_found', false)] });
  const error: unknown = await client.renders.get('a/b').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    code: 'render_not_found',
    status: 404,
    retryable: false,
    requestId: 'req-1',
    message: 'For a person.',
  });
  expect(server.requests).toHaveLength(1);
});

it('does not repeat what waits for the caller, though it is called retryable', async () => {
  const client = await start({ 'POST /v1/renders': [refusal(409, 'asset_not_ready', true)] });
  await expect(client.renders.create(REQUEST)).rejects.toMatchObject({ code: 'asset_not_ready' });
  expect(server.requests).toHaveLength(1);
});

it('makes no second asset when an answer is lost, but asks again when it was refused', async () => {
  const request = { url: REQUEST.video, media_type: 'video' as const };
  const lost = await start({ 'POST /v1/assets': ['cut', ACCEPTED] });
  await expect(lost.assets.create(request)).rejects.toBeInstanceOf(ConnectionError);
  expect(server.requests).toHaveLength(1);
  await server.close();
  const refused = await start({ 'POST /v1/assets': [refusal(429, 'rate_limit_exceeded', true), ACCEPTED] });
  await expect(refused.assets.create(request)).resolves.toBeDefined();
});

it('takes its key to no address that the service is said to have moved to', async () => {
  const elsewhere = await startScriptedServer(() => ({}));
  const moved = (status: number): Reply => ({
    status,
    headers: { location: `${elsewhere.base}/v1/renders` },
  });
  const client = await start({
    'GET /v1/renders/ren_1': [moved(301)],
    'POST /v1/renders': [moved(307)],
  });
  const saying = `(it moved to ${elsewhere.base}/v1/renders)`;
  await expect(client.renders.get('ren_1')).rejects.toThrow(`301 ${saying}`);
  await expect(client.renders.create(REQUEST)).rejects.toThrow(`307 ${saying}`);
  expect([server.requests.length, elsewhere.requests.length]).toEqual([2, 0]);
  await elsewhere.close();
});

it('gives up after maxRetries, with what happened last', async () => {
  const gateway: Reply = { status: 504, body: Buffer.from('upstream') };
  const client = await start({ 'GET /v1/renders/ren_1': ['cut', gateway] }, { maxRetries: 1 });
  await expect(client.renders.get('ren_1')).rejects.toMatchObject({
    name: 'UnexpectedResponse',
    status: 504,
  });
  expect(server.requests).toHaveLength(2);
  expect(UnexpectedResponse.prototype).toBeInstanceOf(Error);
});

it('does not wait longer for a limit than the call may take', async () => {
  const limited: Reply = {
    status: 429,
    body: { error: { code: 'rate_limit_exceeded', message: 'Slowly.', retryable: true } },
    headers: { 'retry-after': '3600' },
  };
  const client = await start({ 'GET /v1/renders/ren_1': [limited] });
  await expect(client.renders.get('ren_1')).rejects.toMatchObject({ retryAfterSeconds: 3600 });
  expect(server.requests).toHaveLength(1);
});

it('ends with the reason of the signal', async () => {
  const reason = new Error('the user left');
  const controller = new AbortController();
  const client = await start({ 'GET /v1/renders/ren_1': [() => controller.abort(reason)] });
  await expect(client.renders.get('ren_1', { signal: controller.signal })).rejects.toBe(reason);
});

it('ends when its time is over, even if the service stays silent', async () => {
  const client = await start({ 'GET /v1/renders/ren_1': [() => undefined] }, { timeoutMs: 20 });
  await expect(client.renders.get('ren_1')).rejects.toMatchObject({ name: 'TimeoutError' });
});

it('tells at once that key or address are missing or cannot be', async () => {
  await start({});
  const baseUrl = server.base;
  const environment = process.env;
  process.env = {};
  try {
    expect(() => new LipSync({ baseUrl })).toThrow('apiKey');
    expect(() => new LipSync({ apiKey: API_KEY })).toThrow('baseUrl');
    const malformed = [
      'two words',
      API_KEY.slice(0, -1),
      `${API_KEY}\n`,
      `Bearer ${API_KEY}`,
      API_KEY.replace('svc', 'SVC'),
      'cus_1',
    ];
    for (const apiKey of malformed)
      expect(() => new LipSync({ apiKey, baseUrl })).toThrow('svc_ followed by 64 hexadecimal digits');
    expect(() => new LipSync({ apiKey: `svc_${'aB'.repeat(32)}`, baseUrl })).not.toThrow();
  } finally {
    process.env = environment;
  }
});
