import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { eventually } from '@lipsync/testkit';
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
    it.each(['/v1/nothing', '/v1', '/v1/'])('404 for %s', async (path) => {
      expect((await send(`${api.baseUrl}${path}`, 'GET', { key: customer.key })).status).toBe(404);
    });

    it('405 with Allow', async () => {
      const { status, headers } = await send(`${api.baseUrl}/v1/renders`, 'OPTIONS', { key: customer.key });
      expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    });

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
      expect((await post({ raw: padded(LIMIT + 1), headers })).status).toBe(413);
    });

    it('refuses it while streaming when the length is not declared', async () => {
      const chunks = async function* (total: number) {
        const bytes = Buffer.from(padded(total));
        for (let offset = 0; offset < total; offset += 1024) yield bytes.subarray(offset, offset + 1024);
      };
      const stream = (total: number) => ReadableStream.from(chunks(total));
      const headers = { 'Content-Type': 'application/json' };
      expect((await post({ raw: stream(LIMIT), headers })).status).toBe(202);
      expect((await post({ raw: stream(LIMIT + 1), headers })).status).toBe(413);
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
      ['invalid_content_type', { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }],
      ['invalid_json', { 'Content-Type': 'application/json' }],
    ])('400 %s, in this order', async (code, headers) => {
      const response = await post({ raw: Buffer.from('{'), headers });
      expect(response).toMatchObject({ status: 400, body: { error: { code } } });
    });

    it('survives JSON that is nested as deep as the size limit allows', async () => {
      const raw = `{"video":${'['.repeat(32_000)}${']'.repeat(32_000)}}`;
      expect((await post({ raw, headers: { 'Content-Type': 'application/json' } })).status).toBe(400);
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
