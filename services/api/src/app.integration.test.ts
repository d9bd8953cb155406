import { openapiDocument, validate } from '@lipsync/contract';
import { registerWorker, removeWorker } from '@lipsync/db';
import { expectContract } from '@lipsync/testkit';
import { send } from '../test/http-client';
import { sendRaw } from '../test/raw-http';
import { startApi, type TestApi } from '../test/start-api';
import { loadSite } from './pages/docs';

describe('outside /v1', () => {
  let api: TestApi;
  const get = (path: string) => send(`${api.baseUrl}${path}`, 'GET');

  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  it('serves health and documentation without a key', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs', '/docs/']) {
      expect((await get(path)).status).toBe(200);
    }
  });

  it.each([
    ['/nothing'],
    ['/V1/renders'],
    ['/v1x'],
    ['//v1/renders'],
    ['/docs/../env'],
    ['/docs/site.json'],
    ['/docs/.md'],
    ['/llms.txt/'],
    ['/studio'],
    ['/metrics'],
  ])('answers %s with 404 not_found', async (path) => {
    const { status, head, body } = await sendRaw(
      api.port,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect({ status, body }).toMatchObject({
      status: 404,
      body: expect.stringContaining('"not_found"') as unknown,
    });
    expect(head).toMatch(/X-Request-Id: /);
  });

  it.each([
    ['GET', 'http://a[b/nothing', '/nothing'],
    ['POST', 'http://a[b/nothing?token=secret', '/nothing'],
    ['OPTIONS', 'http://a[b/V1', '/V1'],
    ['GET', '//user@a[b/nothing#x', '//user@a[b/nothing'],
  ])('answers %s %s like any other request, whatever Express makes of it', async (method, target, path) => {
    const requestId = `${method}-${target.length}`;
    const { status, head, body } = await sendRaw(
      api.port,
      `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: ${requestId}\r\n\r\n`,
    );
    expect(status).toBe(404);
    expect(validate('ErrorResponse', JSON.parse(body))).toEqual({ ok: true });
    expect(head).toMatch(new RegExp(`^X-Request-Id: ${requestId}\r?$`, 'm'));
    expect(head).toMatch(/^Cache-Control: no-store\r?$/m);
    const lines = api.logLines().filter((line) => line['request_id'] === requestId);
    expect(lines).toMatchObject([{ event: 'http_request', path, status: 404, error_code: 'not_found' }]);
  });

  it.each(['/', 'http://api.example.com', '/?from=mail'])(
    'leads from %s to the documentation',
    async (target) => {
      const { status, head } = await sendRaw(
        api.port,
        `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
      expect(status).toBe(302);
      expect(head).toMatch(/^Location: \/docs\r?$/m);
    },
  );

  it('finds a page even when the authority before its path is malformed', async () => {
    const { status, body } = await sendRaw(
      api.port,
      'GET http://a[b/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect({ status, body }).toEqual({ status: 200, body: '{"status":"ok"}' });
  });

  it('answers methods other than GET and HEAD with 405 and Allow', async () => {
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs']) {
      const refused = await send(`${api.baseUrl}${path}`, 'POST');
      expectContract(null, refused);
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect((await send(`${api.baseUrl}${path}`, 'HEAD')).status).toBe(200);
    }
  });

  it('serves the contract, with the public address as its server', async () => {
    const { body } = await get('/openapi.json');
    expect(body).toEqual({ ...openapiDocument, servers: [{ url: 'https://api.example.com' }] });
  });

  it('serves the documentation with all that it loads and leads to, under a policy that allows nothing else', async () => {
    for (const { address: page } of loadSite().pages) {
      const response = await fetch(`${api.baseUrl}${page}`);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      const text = await response.text();
      const files = [...text.matchAll(/(?:src|href)="(\/[^"#]+)/g)]
        .map(([, path = '']) => path)
        .filter((path) => !path.startsWith('/downloads/'));
      expect(files).toContain('/docs/docs.css');
      for (const path of files) {
        const { status, headers } = await get(path);
        expect({ page, path, status }).toEqual({ page, path, status: 200 });
        expect(headers.get('x-content-type-options')).toBe('nosniff');
      }
    }
  });

  it('serves every page also as Markdown, and says which pages there are to programs', async () => {
    const type = async (path: string) => (await get(path)).headers.get('content-type');
    for (const { textAddress } of loadSite().pages)
      expect(await type(textAddress)).toBe('text/markdown; charset=utf-8');
    for (const path of ['/llms.txt', '/llms-full.txt', '/robots.txt'])
      expect(await type(path)).toBe('text/plain; charset=utf-8');
  });

  it('answers a browser that is lost with a page, and a program with an error', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    for (const path of ['/nothing', '/docs/nothing', '/studio/nothing']) {
      const page = await send(`${api.baseUrl}${path}`, 'GET', { headers: { Accept: accept } });
      expect(page.status).toBe(404);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
      expectContract(null, await get(path));
    }
    const written = await send(`${api.baseUrl}/nothing`, 'POST', { headers: { Accept: accept } });
    expectContract(null, written);
  });

  describe('/readyz', () => {
    it('lists every dependency, and fails while no worker serves any engine or fetches inputs, and from the start of a shutdown', async () => {
      const own = await startApi();
      const ready = () => send(`${own.baseUrl}/readyz`, 'GET');
      const fine = { postgres: 'ok', redis: 'ok', s3: 'ok', workers: 'ok' };
      expect(await ready()).toMatchObject({ status: 200, body: { status: 'ok', checks: fine } });
      const unavailable = { status: 'unavailable', checks: { ...fine, workers: 'failed' } };
      await removeWorker(own.db, 'worker-1');
      expect(await ready()).toMatchObject({ status: 503, body: unavailable });
      await registerWorker(own.db, { id: 'worker-2', service: 'gpu-worker', slots: { musetalk: 1 } });
      await removeWorker(own.db, 'media-1');
      expect(await ready()).toMatchObject({ status: 503, body: unavailable });

      const customer = await own.newCustomer();
      own.drain();
      expect(await ready()).toMatchObject({ status: 503, body: { status: 'draining' } });
      expect((await send(`${own.baseUrl}/healthz`, 'GET')).status).toBe(200);
      const refused = await own.operations.refused('get_render', { key: customer.key, id: 'x' });
      expect(refused.code).toBe('render_not_found');
      await own.close();
    });
  });

  describe('every response', () => {
    it("carries the caller's request id, or a new one when the caller's is unsafe to echo", async () => {
      const own = await send(`${api.baseUrl}/healthz`, 'GET', { headers: { 'X-Request-Id': 'trace-7' } });
      expect(own.headers.get('x-request-id')).toBe('trace-7');
      const bad = await send(`${api.baseUrl}/healthz`, 'GET', { headers: { 'X-Request-Id': 'a b"c' } });
      expect(bad.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('is logged on one line, without query, key or body', async () => {
      const key = `svc_${'ab'.repeat(32)}`;
      const url = `${api.baseUrl}/v1/renders?token=secret-token`;
      await send(url, 'POST', {
        key,
        json: { secret: 'secret-body' },
        headers: { 'X-Request-Id': 'find-me' },
      });
      const lines = api.logLines().filter((line) => line['request_id'] === 'find-me');
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({
        method: 'POST',
        path: '/v1/renders',
        level: 'info',
        status: 401,
        error_code: 'invalid_api_key',
      });
      for (const secret of ['secret-token', 'secret-body', key])
        expect(JSON.stringify(api.logLines())).not.toContain(secret);
    });

    it('does not reveal the software behind it', async () => {
      const { headers } = await get('/healthz');
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('server')).toBeNull();
    });
  });
});
