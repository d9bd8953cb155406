import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expectContract, testFolder } from '@lipsync/testkit';
import { send } from '../../test/http-client';
import { sendRaw } from '../../test/raw-http';
import { startApi, type TestApi } from '../../test/start-api';
import { studio } from './studio';

/** Larger than what is compressed as well as it can be. */
const WASM = Buffer.alloc(1024 ** 2 + 1, 'wasm');

const at = testFolder();
let api: TestApi;

beforeAll(async () => {
  await mkdir(at('assets'));
  await writeFile(at('index.html'), '<!doctype html><title>Studio</title>');
  await writeFile(at('favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(at('assets/index-5f2c.js'), 'console.log("studio")');
  await writeFile(at('assets/reader-5f2c.wasm'), WASM);
  api = await startApi({ config: { studioFolder: at() } });
});
afterAll(() => api.close());

/** fetch() decodes what it gets, and so hides what was sent. */
async function sent(path: string, headers: Record<string, string>): Promise<{ head: string; bytes: Buffer }> {
  const lines = Object.entries({ Host: 'x', Connection: 'close', ...headers }).map(
    ([k, v]) => `${k}: ${v}\r\n`,
  );
  const { head, bytes } = await sendRaw(api.port, `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return { head, bytes };
}

describe.each(['/openapi.json', '/docs', '/docs/docs.css', '/studio', '/studio/assets/index-5f2c.js'])(
  '%s',
  (path) => {
    const get = (headers: Record<string, string> = {}) => send(`${api.baseUrl}${path}`, 'GET', { headers });

    it('comes in the encoding that the caller accepts, each under an entity tag of its own', async () => {
      const plain = await sent(path, { 'Accept-Encoding': 'identity' });
      expect(plain.head).not.toMatch(/^Content-Encoding:/im);
      const brotli = await sent(path, { 'Accept-Encoding': 'gzip, deflate, br' });
      expect(brotli.head).toMatch(/^Content-Encoding: br\r?$/m);
      expect(brotliDecompressSync(brotli.bytes)).toEqual(plain.bytes);
      const gzip = await sent(path, { 'Accept-Encoding': 'br;q=0, gzip' });
      expect(gzip.head).toMatch(/^Content-Encoding: gzip\r?$/m);
      expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes);
      const tags = [plain, brotli, gzip].map(({ head }) => /^ETag: ("[^"]+")\r?$/m.exec(head)?.[1]);
      expect(new Set(tags).size).toBe(3);
      for (const { head } of [plain, brotli, gzip]) expect(head).toMatch(/^Vary: Accept-Encoding\r?$/m);
    });

    it('is not sent again to a caller that has it, and the copy keeps its policy', async () => {
      const first = await get();
      const again = await get({ 'If-None-Match': first.headers.get('etag') ?? '' });
      expect(again.status).toBe(304);
      for (const name of ['etag', 'cache-control', 'content-security-policy'])
        expect(again.headers.get(name)).toBe(first.headers.get(name));
      expect((await get({ 'If-None-Match': '"of another version"' })).status).toBe(200);
    });
  },
);

describe('the studio', () => {
  it('may talk to this service and the store, and to nobody else', async () => {
    const { headers } = await send(`${api.baseUrl}/studio/`, 'GET');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`connect-src 'self' ${api.s3.endpoint};`);
    expect(policy).toContain(`media-src 'self' blob: ${api.s3.endpoint};`);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers.get('permissions-policy')).toContain('microphone=(self)');
  });

  it('lets no page run WebAssembly, but workers of its own', async () => {
    const { headers } = await send(`${api.baseUrl}/studio/assets/index-5f2c.js`, 'GET');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; frame-ancestors 'none'",
    );
    const wasm = await sent('/studio/assets/reader-5f2c.wasm', { 'Accept-Encoding': 'br' });
    expect(wasm.head).toMatch(/^Content-Type: application\/wasm\r?$/m);
    expect(brotliDecompressSync(wasm.bytes)).toEqual(WASM);
  });

  it('is checked for changes at every use, while files that are named by their content are not', async () => {
    const kept = async (path: string) =>
      (await send(`${api.baseUrl}/studio${path}`, 'GET')).headers.get('cache-control');
    expect(await kept('')).toBe('no-cache');
    expect(await kept('/favicon.svg')).toBe('no-cache');
    expect(await kept('/assets/index-5f2c.js')).toBe('public, max-age=31536000, immutable');
  });

  it('has no other files, and refuses other methods', async () => {
    for (const path of ['/studio/nothing', '/studio/index.html', '/studio/../env', '/studio/assets/']) {
      const { head } = await sent(path, {});
      expect(head).toMatch(/^HTTP\/1\.1 404 /);
    }
    const refused = await send(`${api.baseUrl}/studio`, 'POST');
    expectContract(null, refused);
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('learns of a key whether the service accepts it, as any operation would tell, and within the same limits', async () => {
    const ask = (key: string) =>
      send(`${api.baseUrl}/studio/key`, 'GET', { headers: { Authorization: `Bearer ${key}` } });
    const { key } = await api.newCustomer({ getPerMinute: 1 });
    const accepted = await ask(key);
    expect([accepted.status, accepted.body, accepted.headers.get('cache-control')]).toEqual([
      200,
      {},
      'no-store',
    ]);
    expect((await ask(key)).status).toBe(429);
    const refused = await ask(`svc_${'0'.repeat(64)}`);
    expectContract(null, refused);
    expect(refused.status).toBe(401);
  });

  it('must be built: a service without its page does not start to serve it', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'studio-'));
    expect(() => studio(empty, api.s3.endpoint)).toThrow('the studio is not built');
    await rm(empty, { recursive: true });
  });
});
