import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import {
  type HttpsReceiver,
  listenOnLoopback,
  type ReceiverReply,
  startHttpsReceiver,
} from '@lipsync/testkit';
import { loadEnv, sharedSettings } from '../env';
import { EgressError, type EgressPolicy } from './dial';
import { createEgress, egressUnder, openEgress } from './egress';

const HOST = 'media.example.test';
const PUBLIC = '93.184.215.14';
const PRIVATE = '10.1.2.3';
/** A limit that no test waits for. */
const PATIENCE_MS = 600_000;

let receiver: HttpsReceiver;
let directory: string;

beforeAll(async () => {
  receiver = await startHttpsReceiver({ hostnames: [HOST, 'other.example.test'] });
  directory = await mkdtemp(join(tmpdir(), 'egress-'));
});
afterAll(async () => {
  await receiver.close();
  await rm(directory, { recursive: true });
});

/** A client that reaches the receiver as `media.example.test:443`, and nothing else. */
function routedEgress(changes: Partial<EgressPolicy> = {}) {
  return egressUnder({
    allowedPorts: 'https-443',
    resolve: () => Promise.resolve([PUBLIC]),
    isAllowedAddress: (address) => address === PUBLIC,
    routes: new Map([
      [`${HOST}:443`, receiver.address],
      ['other.example.test:443', receiver.address],
      ['wrong-name.example.test:443', receiver.address],
    ]),
    ca: receiver.ca,
    connectTimeoutMs: PATIENCE_MS,
    ...changes,
  });
}

const limits = { maxBytes: 65_536, deadlineMs: PATIENCE_MS, firstByteMs: PATIENCE_MS, maxRedirects: 3 };
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
const get = (url: string, changes: Partial<EgressPolicy> = {}, options: Partial<typeof limits> = {}) =>
  routedEgress(changes).download(url, { ...limits, ...options, to: nowhere() });
const post = (changes: Partial<EgressPolicy> = {}, deadlineMs = PATIENCE_MS) =>
  routedEgress(changes).post(`https://${HOST}/hook`, { headers: {}, body: '{}', deadlineMs });

it('passes on the error of a file that cannot be written, even before anything has arrived', async () => {
  const to = createWriteStream(join(directory, 'no-such-folder', 'file'));
  const untilAborted: EgressPolicy['resolve'] = async (_hostname, signal) => {
    await once(signal, 'abort');
    throw new EgressError('dns_error');
  };
  const download = routedEgress({ resolve: untilAborted }).download('https://slow.example.test/', {
    ...limits,
    to,
  });
  await expect(download).rejects.toMatchObject({ code: 'ENOENT' });
});

describe('destinations', () => {
  const literal: EgressPolicy['isAllowedAddress'] = (address) => address === PUBLIC;

  it.each([
    ['plain http', 'http://media.example.test/'],
    ['another port', 'https://media.example.test:8443/'],
    ['user-info', `https://user:pass@${HOST}/`],
    ['a loopback literal', 'https://127.0.0.1/'],
    ['something that is not a URL', 'media'],
    ['a name of the cluster', 'https://api.default.svc.cluster.local/'],
  ])('are refused: %s', async (_name, url) => {
    await expect(get(url, { isAllowedAddress: literal })).rejects.toMatchObject({
      reason: 'address_not_allowed',
    });
    await expect(
      routedEgress({ isAllowedAddress: literal }).post(url, {
        headers: {},
        body: '',
        deadlineMs: PATIENCE_MS,
      }),
    ).rejects.toMatchObject({ reason: 'address_not_allowed' });
  });

  it('are refused if the name resolves to a private address', async () => {
    const resolve = () => Promise.resolve([PRIVATE]);
    await expect(get('https://inside.example.test/', { resolve })).rejects.toMatchObject({
      reason: 'address_not_allowed',
    });
  });

  it('are refused if the name resolves to public and private addresses, in any order', async () => {
    for (const answers of [
      [PUBLIC, PRIVATE],
      [PRIVATE, PUBLIC],
    ]) {
      const resolve = () => Promise.resolve(answers);
      await expect(get('https://mixed.example.test/', { resolve })).rejects.toMatchObject({
        reason: 'address_not_allowed',
      });
    }
  });

  it('without addresses are reported as a DNS error', async () => {
    const resolve = () => Promise.reject(new EgressError('dns_error'));
    await expect(get('https://nowhere.example.test/', { resolve })).rejects.toMatchObject({
      reason: 'dns_error',
    });
  });
});

describe('DNS rebinding', () => {
  let canary: Server;
  let canaryHits = 0;

  beforeAll(async () => {
    canary = createServer((socket) => {
      canaryHits++;
      socket.destroy();
    }).listen(receiver.port, '127.0.0.2');
    await once(canary, 'listening');
  });
  afterAll(() => new Promise((resolve) => canary.close(resolve)));

  it('connects only to the vetted address and refuses the name once it points inside', async () => {
    // The first answer is allowed (the receiver), every later one is not (the canary, on the same port).
    const answers = ['127.0.0.1'];
    const asked: string[] = [];
    const egress = egressUnder({
      allowedPorts: 'any',
      resolve: (name) => {
        asked.push(name);
        return Promise.resolve([answers.shift() ?? '127.0.0.2']);
      },
      isAllowedAddress: (address) => address === '127.0.0.1',
      routes: new Map([[`${HOST}:1`, receiver.address]]),
      ca: receiver.ca,
      connectTimeoutMs: PATIENCE_MS,
    });
    const send = () => egress.post(receiver.url(), { headers: {}, body: '', deadlineMs: PATIENCE_MS });

    // Reaches the receiver, whose CA is trusted only for routed destinations.
    await expect(send()).rejects.toMatchObject({ reason: 'tls_error' });
    await expect(send()).rejects.toMatchObject({ reason: 'address_not_allowed' });
    expect(asked).toEqual([HOST, HOST]);
    expect(canaryHits).toBe(0);
  });
});

describe('TLS', () => {
  it('refuses a certificate for another name', async () => {
    await expect(get('https://wrong-name.example.test/')).rejects.toMatchObject({ reason: 'tls_error' });
  });

  it('refuses an unknown CA', async () => {
    await expect(get(`https://${HOST}/`, { ca: undefined })).rejects.toMatchObject({ reason: 'tls_error' });
  });

  it('reports a closed port as a failed connection', async () => {
    // Nobody listens there.
    const routes = new Map([[`${HOST}:443`, '127.0.0.1:1']]);
    await expect(get(`https://${HOST}/`, { routes })).rejects.toMatchObject({ reason: 'connection_failed' });
  });

  it('gives up on a peer that accepts and then stays silent', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined).resume());
    const port = await listenOnLoopback(silent);
    const routes = new Map([[`${HOST}:443`, `127.0.0.1:${port}`]]);
    await expect(get(`https://${HOST}/`, { routes, connectTimeoutMs: 200 })).rejects.toMatchObject({
      reason: 'no_answer',
    });
    await new Promise((resolve) => silent.close(resolve));
  });

  it('gives up at the deadline even during name resolution', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined).resume());
    const port = await listenOnLoopback(silent);
    // One address family has been answered, the other has not when the query is cancelled.
    const resolve: EgressPolicy['resolve'] = async (_hostname, signal) => {
      await once(signal, 'abort');
      return ['127.0.0.1'];
    };
    const egress = routedEgress({ allowedPorts: 'any', resolve, isAllowedAddress: () => true });
    const late = egress.post(`https://late.example.test:${port}/`, {
      headers: {},
      body: '',
      deadlineMs: 100,
    });
    await expect(late).rejects.toMatchObject({ reason: 'timeout' });
    await new Promise((resolve) => silent.close(resolve));
  });
});

describe('download', () => {
  it('streams the bytes to the file and returns their digest, size and media type', async () => {
    const body = Buffer.alloc(50_000, 'lip');
    receiver.reply({ status: 200, headers: { 'content-type': 'Video/MP4; codecs=avc1' }, body });
    const file = join(directory, 'clip');
    const progress: [number, number | null][] = [];
    const result = await routedEgress().download(`https://${HOST}/clip.mp4?a=b`, {
      ...limits,
      to: createWriteStream(file),
      onProgress: (received, total) => progress.push([received, total]),
    });
    expect(result).toEqual({
      status: 200,
      contentType: 'video/mp4',
      bytes: body.length,
      sha256: createHash('sha256').update(body).digest('hex'),
    });
    expect(await readFile(file)).toEqual(body);
    expect(progress.at(-1)).toEqual([body.length, null]);
    expect(receiver.requests.at(-1)).toMatchObject({
      path: '/clip.mp4?a=b',
      headers: { host: HOST, 'accept-encoding': 'identity' },
    });
  });

  it.each([10_000, 100_000, 1_000_000])(
    'writes all of %d bytes even if their sender ended long before the sink accepts them',
    async (bytes) => {
      receiver.reply(({ method }) =>
        method === 'GET'
          ? { status: 200, headers: { 'content-length': String(bytes) }, body: Buffer.alloc(bytes) }
          : { status: 204 },
      );
      let written = 0;
      const to = new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          written += chunk.length;
          // Once another request has been answered, whatever this sender does at its end has arrived.
          void post().then(() => done(), done);
        },
      });
      await routedEgress().download(`https://${HOST}/`, { ...limits, maxBytes: bytes, to });
      expect(written).toBe(bytes);
    },
  );

  it('passes on compressed bytes as they are, so that a small response cannot become a large one', async () => {
    const body = gzipSync(Buffer.alloc(1_000_000));
    receiver.reply({ status: 200, headers: { 'content-encoding': 'gzip' }, body });
    expect(await get(`https://${HOST}/`)).toMatchObject({ bytes: body.length });
  });

  it('refuses an announced size above the limit without reading the body', async () => {
    let read = 0;
    receiver.reply({ status: 200, headers: { 'content-length': '65537' }, body: Buffer.alloc(65_537) });
    const to = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        read += chunk.length;
        done();
      },
    });
    await expect(routedEgress().download(`https://${HOST}/`, { ...limits, to })).rejects.toMatchObject({
      reason: 'too_large',
    });
    expect(read).toBe(0);
    expect(to.destroyed).toBe(true);
  });

  it('stops an endless body at the limit', async () => {
    receiver.reply('endless');
    await expect(get(`https://${HOST}/`)).rejects.toMatchObject({ reason: 'too_large' });
  });

  it.each(['hang', 'drip'] as const)('ends at the total deadline when the server %ss', async (reply) => {
    receiver.reply(reply);
    await expect(get(`https://${HOST}/`, {}, { deadlineMs: 300 })).rejects.toMatchObject({
      reason: 'timeout',
    });
  });

  it('gives up on a transfer that stays below the minimum rate', async () => {
    receiver.reply('drip');
    const rateFloor = { bytesPerSecond: 1_000, windowMs: 200 };
    await expect(
      routedEgress().download(`https://${HOST}/`, { ...limits, rateFloor, to: nowhere() }),
    ).rejects.toMatchObject({ reason: 'too_slow' });
  });

  it.each<[string, ReceiverReply]>([
    ['no response', 'hang'],
    ['headers and nothing else', { status: 200, body: () => new Readable({ read: () => undefined }) }],
  ])('gives up on a server that sends %s long before the deadline of the transfer', async (_, reply) => {
    receiver.reply(reply);
    await expect(get(`https://${HOST}/`, {}, { firstByteMs: 100 })).rejects.toMatchObject({
      reason: 'no_answer',
    });
  });

  it('gives redirects and the file together one time to the first byte', async () => {
    receiver.reply({ status: 302, headers: { location: '/next' } });
    // More than there is time for. If each had a time of its own, they would all be followed.
    const endlessly = { firstByteMs: 100, maxRedirects: 10_000 };
    await expect(get(`https://${HOST}/`, {}, endlessly)).rejects.toMatchObject({ reason: 'no_answer' });
  });

  it('does not count the first byte against a file that takes long but comes', async () => {
    // Time passes only where this test says so.
    jest.useFakeTimers({ doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'setImmediate'] });
    try {
      const [file, to] = [new PassThrough(), new PassThrough()];
      receiver.reply({ status: 200, body: () => file });
      const slow = routedEgress().download(`https://${HOST}/`, { ...limits, firstByteMs: 1_000, to });
      file.write('.');
      await once(to, 'data');
      jest.advanceTimersByTime(10_000);
      file.end('.');
      await expect(slow).resolves.toMatchObject({ bytes: 2 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('refuses oversized response headers', async () => {
    receiver.reply({ status: 200, headers: { 'x-large': 'a'.repeat(30_000) } });
    await expect(get(`https://${HOST}/`)).rejects.toMatchObject({ reason: 'connection_failed' });
  });

  it('fails at once, and a post likewise, when the server changes to another protocol', async () => {
    receiver.reply({ status: 101, headers: { connection: 'upgrade', upgrade: 'echo' } });
    await expect(get(`https://${HOST}/`)).rejects.toMatchObject({ reason: 'connection_failed' });
    await expect(post()).rejects.toMatchObject({ reason: 'connection_failed' });
  });

  it('reports a status other than 200 with the status', async () => {
    receiver.reply({ status: 404, body: 'no' });
    await expect(get(`https://${HOST}/`)).rejects.toMatchObject({ reason: 'http_status', status: 404 });
  });

  it('passes on a failure of the sink unchanged, since a full disk is not the sender’s fault', async () => {
    receiver.reply({ status: 200, body: 'bytes' });
    const to = new Writable({ write: (_chunk, _encoding, done) => done(new Error('disk full')) });
    await expect(routedEgress().download(`https://${HOST}/`, { ...limits, to })).rejects.toThrow('disk full');
  });

  it('stops at the caller’s signal with the signal’s reason', async () => {
    receiver.reply('hang');
    const abort = new AbortController();
    const pending = routedEgress().download(`https://${HOST}/`, {
      ...limits,
      to: nowhere(),
      signal: abort.signal,
    });
    abort.abort(new Error('cancelled by its owner'));
    await expect(pending).rejects.toThrow('cancelled by its owner');
  });
});

describe('redirects of a download', () => {
  const redirectTo = (location: string) => ({ status: 302, headers: { location } });

  it('are followed up to the allowed number, each of them vetted', async () => {
    receiver.reply(({ path }) =>
      path === '/a' ? redirectTo('https://other.example.test/b') : { status: 200, body: 'b' },
    );
    const start = receiver.requests.length;
    expect(await get(`https://${HOST}/a`)).toMatchObject({ bytes: 1 });
    expect(receiver.requests.slice(start).map(({ path }) => path)).toEqual(['/a', '/b']);
  });

  it('are refused beyond the allowed number', async () => {
    receiver.reply(redirectTo('/again'));
    const start = receiver.requests.length;
    await expect(get(`https://${HOST}/`)).rejects.toMatchObject({ reason: 'redirect' });
    expect(receiver.requests.length - start).toBe(4);
  });

  it.each([
    'https://127.0.0.1/',
    'http://media.example.test/',
    'https://inside.example.test/',
    'https://metadata.google.internal/',
  ])('are refused if they lead to %s', async (target) => {
    receiver.reply(redirectTo(target));
    const resolve = (name: string) => Promise.resolve([name === 'inside.example.test' ? PRIVATE : PUBLIC]);
    await expect(get(`https://${HOST}/`, { resolve })).rejects.toMatchObject({
      reason: 'address_not_allowed',
    });
  });
});

describe('post', () => {
  it('sends the exact bytes and headers and returns status and Retry-After', async () => {
    receiver.reply({ status: 429, headers: { 'retry-after': '120' }, body: 'slow down' });
    const answer = await routedEgress().post(`https://${HOST}/hook?x=1`, {
      headers: { 'content-type': 'application/json', 'x-signature': 's' },
      body: '{"a": "ü"}',
      deadlineMs: PATIENCE_MS,
    });
    expect(answer).toEqual({ status: 429, retryAfter: '120' });
    const request = receiver.requests.at(-1);
    expect(request?.body.toString('utf8')).toBe('{"a": "ü"}');
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'x-signature': 's' });
  });

  it('returns a redirect without following it', async () => {
    receiver.reply({ status: 307, headers: { location: 'https://other.example.test/' } });
    const start = receiver.requests.length;
    expect(await post()).toMatchObject({ status: 307 });
    expect(receiver.requests.length - start).toBe(1);
  });

  it.each([
    // Enough of it is read long before.
    ['endless', PATIENCE_MS],
    // Waits for the whole of it; connecting is within that time as well.
    ['drip', 3_000],
  ] as const)('returns the status of a response whose body is %s', async (reply, deadlineMs) => {
    receiver.reply(reply);
    expect(await post({}, deadlineMs)).toEqual({ status: 200, retryAfter: null });
  });

  it('times out if no response comes', async () => {
    receiver.reply('hang');
    await expect(post({}, 300)).rejects.toMatchObject({ reason: 'timeout' });
  });
});

describe('development routes', () => {
  it('cannot be configured in production', () => {
    const routes = new Map([[`${HOST}:443`, '127.0.0.1:8443']]);
    expect(() => createEgress({ nodeEnv: 'production', allowedPorts: 'any', routes })).toThrow(
      'refused in production',
    );
    expect(() => createEgress({ nodeEnv: 'production', allowedPorts: 'any', ca: receiver.ca })).toThrow(
      'refused in production',
    );
  });

  it('cannot be configured where nothing says that it is not production', () => {
    const settings = sharedSettings.pick({ NODE_ENV: true, EGRESS_ROUTES: true, EGRESS_CA_FILE: true });
    const routed = loadEnv(settings, { EGRESS_ROUTES: `${HOST}:443=127.0.0.1:8443` });
    expect(() => openEgress(routed, 'any')).toThrow('refused in production');
  });

  it('open one destination and leave everything else closed', async () => {
    const egress = createEgress({
      nodeEnv: 'test',
      allowedPorts: 'any',
      routes: new Map([[`${HOST}:443`, receiver.address]]),
      ca: receiver.ca,
    });
    const send = (url: string) => egress.post(url, { headers: {}, body: '', deadlineMs: PATIENCE_MS });
    receiver.reply({ status: 204 });
    expect(await send(`https://${HOST}/`)).toMatchObject({ status: 204 });
    await expect(send(`https://127.0.0.1:${receiver.port}/`)).rejects.toMatchObject({
      reason: 'address_not_allowed',
    });
    await expect(send(`https://[::1]:${receiver.port}/`)).rejects.toMatchObject({
      reason: 'address_not_allowed',
    });
  });
});
