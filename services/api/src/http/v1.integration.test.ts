import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { eventually, expectContract } from '@lipsync/testkit';
import { send } from '../../test/http-client';
import { sendRaw } from '../../test/raw-http';
import { renderRequest } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

const LIMIT = 65_536;

describe('requests under /v1', () => {
  let api: TestApi;
  let customer: TestCustomer;
  const post = (options: Parameters<typeof send>[2]) =>
    send(`${api.baseUrl}/v1/renders`, 'POST', { key: customer.key, ...options });
  /** A valid request, padded with spaces to exactly this many bytes. */
  const padded = (bytes: number): string => JSON.stringify(renderRequest()).padEnd(bytes);

  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer({ activeRecordsMax: 100, postPerMinute: 1000, getPerMinute: 1000 });
  });
  afterAll(() => api.close());

  describe('path and method', () => {
    it.each([
      ['/v1/uploads/upl_1'],
      ['/v1/nothing'],
      ['/v1'],
      ['/v1/'],
      ['/v1/Renders/x'],
      ['/v1/renders//'],
      ['/v1/renders/a/b'],
    ])('404 for %s, whatever the method', async (path) => {
      for (const method of ['GET', 'POST', 'PUT']) {
        const response = await send(`${api.baseUrl}${path}`, method, { key: customer.key });
        expectContract(null, response);
        expect(response.status).toBe(404);
      }
    });

    it.each([
      ['GET', '/v1/renders', 'POST'],
      ['HEAD', '/v1/renders', 'POST'],
      ['DELETE', '/v1/renders/does-not-matter', 'GET, HEAD'],
      ['PATCH', '/v1/webhooks/x', 'GET, HEAD'],
      ['OPTIONS', '/v1/renders', 'POST'],
      ['GET', '/v1/uploads/x/complete/', 'POST'],
    ])('405 for %s %s with Allow', async (method, path, allowed) => {
      const response = await send(`${api.baseUrl}${path}`, method, { key: customer.key });
      expectContract(null, response);
      expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
    });

    it.each(['FOO', 'GETX', 'get'])(
      '405 with Allow also for %s, a method that the HTTP parser does not know, and 401 without a key',
      async (method) => {
        const head = `${method} /v1/renders/x HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${method}\r\n`;
        const unauthenticated = await sendRaw(api.port, `${head}\r\n`);
        expect(unauthenticated.status).toBe(401);
        const answer = await sendRaw(
          api.port,
          `${head}Authorization: Bearer ${customer.key}\r\nContent-Length: 2\r\n\r\n{}`,
        );
        expect(answer.status).toBe(405);
        expect(answer.head).toMatch(/^Allow: GET, HEAD\r?$/m);
        expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'method_not_allowed' } });
        await eventually(() => {
          const lines = api.logLines().filter((line) => line['request_id'] === method);
          expect(lines).toMatchObject([
            { method, status: 401 },
            { method, status: 405 },
          ]);
        });
      },
    );

    it('405 before the body is looked at', async () => {
      const { status } = await send(`${api.baseUrl}/v1/renders/x`, 'PUT', {
        key: customer.key,
        raw: 'x'.repeat(70_000),
      });
      expect(status).toBe(405);
    });
  });

  describe('body', () => {
    it('accepts 64 KiB and refuses one byte more, by its declared length', async () => {
      const headers = { 'Content-Type': 'application/json' };
      expect((await post({ raw: padded(LIMIT), headers })).status).toBe(202);
      const refused = await post({ raw: padded(LIMIT + 1), headers });
      expectContract('create_render', refused);
      expect(refused.status).toBe(413);
    });

    it('refuses it while streaming when the length is not declared', async () => {
      const chunks = async function* (total: number) {
        const bytes = Buffer.from(padded(total));
        for (let offset = 0; offset < total; offset += 1024) yield bytes.subarray(offset, offset + 1024);
      };
      const stream = (total: number) => ReadableStream.from(chunks(total));
      const headers = { 'Content-Type': 'application/json' };
      expect((await post({ raw: stream(LIMIT), headers })).status).toBe(202);
      const refused = await post({ raw: stream(LIMIT + 1), headers });
      expectContract('create_render', refused);
      expect(refused.status).toBe(413);
    });

    it('answers at once when a client sends Expect: 100-continue for a body that is too large', async () => {
      const request = httpRequest(`${api.baseUrl}/v1/renders`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${customer.key}`,
          Expect: '100-continue',
          'Content-Length': 300_000_000,
        },
      });
      let continued = false;
      request.on('continue', () => (continued = true)).on('error', () => undefined);
      request.flushHeaders();
      const response = await new Promise<number>((resolve) => {
        request.on('response', (message) => resolve(message.statusCode ?? 0));
      });
      expect({ response, continued }).toEqual({ response: 413, continued: false });
      request.destroy();
    });

    it('lets a client that sends Expect: 100-continue send an acceptable body', async () => {
      const body = padded(1000);
      const request = httpRequest(`${api.baseUrl}/v1/renders`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${customer.key}`,
          'Content-Type': 'application/json',
          Expect: '100-continue',
          'Content-Length': body.length,
        },
      });
      request.flushHeaders();
      await once(request, 'continue');
      const answered = new Promise<number>((resolve) => {
        request.on('response', (message) => {
          message.resume();
          resolve(message.statusCode ?? 0);
        });
      });
      request.end(body);
      expect(await answered).toBe(202);
    });

    it.each([
      ['no content type', {}],
      ['text', { 'Content-Type': 'text/plain' }],
      ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      ['another charset', { 'Content-Type': 'application/json; charset=utf-16' }],
      ['compression', { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }],
    ])('400 invalid_content_type for %s, before the JSON is looked at', async (_, headers) => {
      const response = await post({ raw: Buffer.from('{'), headers });
      expectContract('create_render', response);
      expect(response.body).toMatchObject({ error: { code: 'invalid_content_type' } });
    });

    it.each([
      ['nothing', ''],
      ['malformed JSON', '{"video":'],
      ['an array', '[]'],
      ['text', '"x"'],
      ['null', 'null'],
    ])('400 invalid_json for %s', async (_, raw) => {
      const response = await post({ raw, headers: { 'Content-Type': 'application/json' } });
      expectContract('create_render', response);
      expect(response).toMatchObject({ status: 400, body: { error: { code: 'invalid_json' } } });
    });

    it('survives JSON that is nested as deep as the size limit allows', async () => {
      const raw = `{"video":${'['.repeat(32_000)}${']'.repeat(32_000)}}`;
      const response = await post({ raw, headers: { 'Content-Type': 'application/json' } });
      expectContract('create_render', response);
      expect(response.status).toBe(400);
    });
  });

  it('takes URLs in responses from the settings, never from the request', async () => {
    const body = JSON.stringify(renderRequest());
    const headers = [
      'Host: evil.example',
      'X-Forwarded-Host: evil.example',
      `Authorization: Bearer ${customer.key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Connection: close',
    ];
    const answer = await sendRaw(
      api.port,
      `POST /v1/renders HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`,
    );
    expect(answer.status).toBe(202);
    expect(answer.body).toContain('https://api.example.com/v1/renders/');
    expect(answer.body).not.toContain('evil.example');
  });

  it('logs a client that hangs up halfway as 499 and keeps serving', async () => {
    const request = httpRequest(`${api.baseUrl}/v1/renders`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${customer.key}`,
        'Content-Length': 1000,
        'X-Request-Id': 'hangs-up',
        Expect: '100-continue',
      },
    });
    request.on('error', () => undefined);
    request.flushHeaders();
    await once(request, 'continue');
    request.destroy();
    await eventually(() => {
      const line = api.logLines().find((entry) => entry['request_id'] === 'hangs-up');
      expect(line).toMatchObject({ status: 499 });
    });
    expect((await post({ json: renderRequest() })).status).toBe(202);
  });
});
