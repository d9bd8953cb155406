import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, readlink, realpath, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetBucketCorsCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { eventually, type S3Server, startS3Server } from '@lipsync/testkit';
import { createS3Client } from './s3-client';
import { createStorage, listKeys, type Storage } from './storage';

/** Only Linux offers what these tests need to observe this. */
const onLinux = process.platform === 'linux' ? it : it.skip;

let server: S3Server;
let storage: Storage;
let directory: string;

const connect = (changes: Partial<Parameters<typeof createStorage>[0]> = {}) =>
  createStorage({ ...server, forcePathStyle: true, ...changes });

beforeAll(async () => {
  server = await startS3Server();
  storage = connect();
  directory = await mkdtemp(join(tmpdir(), 'storage-'));
});
afterEach(() => server.faults.clear());
afterAll(async () => {
  storage.close();
  await server.close();
  await rm(directory, { recursive: true });
});

const asText = { contentType: 'text/plain' };
const never = new Promise<void>(() => undefined);
const sign = (key: string, contentLength: number) =>
  storage.presignPut(key, { contentType: 'video/mp4', contentLength, expiresSeconds: 900 });
const upload = (url: string, body: Uint8Array<ArrayBuffer>, contentType: string) =>
  fetch(url, { method: 'PUT', headers: { 'content-type': contentType }, body });

describe('signed uploads', () => {
  const body = new Uint8Array(1000).fill(7);

  it('are bound to type and length, as the required headers show', async () => {
    const signed = await sign('uploads/a', body.length);
    expect(signed.headers).toEqual({ 'Content-Type': 'video/mp4', 'Content-Length': '1000' });
    expect(new URL(signed.url).searchParams.get('X-Amz-SignedHeaders')).toBe(
      'content-length;content-type;host',
    );
    expect((await upload(signed.url, body.slice(1), 'video/mp4')).status).toBe(403);
    expect((await upload(signed.url, new Uint8Array(1001), 'video/mp4')).status).toBe(403);
    expect((await upload(signed.url, body, 'text/html')).status).toBe(403);
    expect(await storage.head('uploads/a')).toBeNull();
    expect((await upload(signed.url, body, 'video/mp4')).status).toBe(200);
    expect(await storage.head('uploads/a')).toMatchObject({ sizeBytes: 1000, contentType: 'video/mp4' });
  });

  it('report an expiry that is never later than the signed one', async () => {
    const clock = { now: () => Date.parse('2026-03-01T10:00:00.999Z') };
    const signed = await connect({ clock }).presignPut('k', {
      contentType: 'a/b',
      contentLength: 1,
      expiresSeconds: 900,
    });
    expect(signed.expiresAt).toEqual(new Date('2026-03-01T10:15:00.000Z'));
    expect(new URL(signed.url).searchParams.get('X-Amz-Date')).toBe('20260301T100000Z');
    expect(new URL(signed.url).searchParams.get('X-Amz-Expires')).toBe('900');
  });

  it('use the public endpoint while the service uses the internal one', async () => {
    const split = connect({ publicEndpoint: 'https://media.example.test' });
    const options = { filename: 'v.mp4', contentType: 'video/mp4', expiresSeconds: 60 };
    expect((await split.presignGet('k', options)).url).toMatch(/^https:\/\/media\.example\.test\/media\/k\?/);
    await split.ping();
    split.close();
  });

  it('cannot change what was copied: a swap before the copy is refused, a swap after it changes nothing', async () => {
    const signed = await sign('uploads/swap', body.length);
    await upload(signed.url, body, 'video/mp4');
    const seen = await storage.head('uploads/swap');
    const swapped = new Uint8Array(1000).fill(8);

    await storage.copy('uploads/swap', 'assets/x/1', { ifMatch: seen?.etag ?? '' });
    await upload(signed.url, swapped, 'video/mp4');
    expect(new Uint8Array(await storage.getBuffer('assets/x/1'))).toEqual(body);
    await expect(
      storage.copy('uploads/swap', 'assets/x/2', { ifMatch: seen?.etag ?? '' }),
    ).rejects.toMatchObject({
      kind: 'precondition_failed',
    });
    expect(await storage.head('assets/x/2')).toBeNull();
  });
});

describe('a bucket', () => {
  it('is created once, and found by every later attempt', async () => {
    const fresh = connect({ bucket: 'fresh' });
    await expect(fresh.ping()).rejects.toMatchObject({ name: 'StorageError' });
    expect(await fresh.createBucket()).toBe(true);
    await fresh.ping();
    expect(await fresh.createBucket()).toBe(false);
    fresh.close();
  });

  it('is not reported as missing if the credentials are wrong', async () => {
    const stranger = connect({ bucket: 'fresh2', secretAccessKey: 'wrong' });
    await expect(stranger.createBucket()).rejects.toMatchObject({ kind: 'rejected' });
    stranger.close();
  });
});

describe('signed downloads', () => {
  it('are saved under a harmless name with a fixed type, and kept by nobody else', async () => {
    await storage.put('outputs/v', Buffer.from('video'), asText);
    const signed = await storage.presignGet('outputs/v', {
      filename: 'ren_1"\r\n.mp4',
      contentType: 'video/mp4',
      expiresSeconds: 60,
    });
    expect(new URL(signed.url).searchParams.get('X-Amz-Expires')).toBe('60');
    const response = await fetch(signed.url);
    expect(await response.text()).toBe('video');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="ren_1___.mp4"');
    expect(response.headers.get('cache-control')).toBe('private, max-age=60');
    expect(response.headers.get('content-type')).toBe('video/mp4');
  });
});

describe('objects', () => {
  async function keysUnder(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const key of storage.list(prefix)) keys.push(key);
    return keys;
  }

  it('survive the way through files unchanged', async () => {
    const bytes = randomBytes(3_000_000);
    const source = join(directory, 'source');
    const target = join(directory, 'target');
    await writeFile(source, bytes);
    await storage.put('big', { file: source }, { contentType: 'video/mp4' });
    await storage.getToFile('big', target);
    expect((await readFile(target)).equals(bytes)).toBe(true);
  });

  it('are fetched up to the requested length, or to their end', async () => {
    const target = join(directory, 'part');
    await storage.put('long', Buffer.from('0123456789'), asText);
    await storage.getToFile('long', target, { firstBytes: 4 });
    expect(await readFile(target, 'utf8')).toBe('0123');
    await storage.getToFile('long', target, { firstBytes: 40 });
    expect(await readFile(target, 'utf8')).toBe('0123456789');
  });

  it('are listed by prefix, and deleted also by a store that refuses to delete many in one request', async () => {
    const keys = ['purge/1', 'purge/2', 'purge/3'];
    for (const key of keys) await storage.put(key, Buffer.from('x'), asText);
    expect(await keysUnder('purge/')).toEqual(keys);
    server.faults.set({ denyRate: 1, applies: ({ method }) => method === 'POST' });
    await storage.delete([...keys, 'purge/absent']);
    expect(await keysUnder('purge/')).toEqual([]);
  });

  it('are deleted although another one of the same call cannot be, and the call says so', async () => {
    for (const key of ['held', 'free']) await storage.put(key, Buffer.from('x'), asText);
    server.faults.set({ denyRate: 1, applies: ({ key }) => key === 'held' });
    await expect(storage.delete(['held', 'free'])).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('held') as string,
    });
    server.faults.clear();
    expect(await storage.head('free')).toBeNull();
  });

  it('are listed to the last page', async () => {
    const keys = ['pages/1', 'pages/2', 'pages/3', 'pages/4', 'pages/5'];
    for (const key of keys) await storage.put(key, Buffer.from('x'), asText);
    const client = createS3Client({ ...server, forcePathStyle: true }, server.endpoint, 1);
    client.middlewareStack.add((next) => (args) => next({ ...args, input: { ...args.input, MaxKeys: 2 } }), {
      step: 'initialize',
    });
    const listed: string[] = [];
    for await (const key of listKeys({ client, bucket: server.bucket }, 'pages/')) listed.push(key);
    client.destroy();
    expect(listed).toEqual(keys);
  });
});

describe('failures', () => {
  it('distinguish a missing object, a store that is unavailable and a store that refuses', async () => {
    await expect(storage.getBuffer('absent')).rejects.toMatchObject({ kind: 'not_found' });
    await expect(storage.copy('absent', 'b', { ifMatch: '"x"' })).rejects.toMatchObject({
      kind: 'not_found',
    });
    const stranger = connect({ secretAccessKey: 'wrong' });
    await expect(stranger.getBuffer('absent')).rejects.toMatchObject({ kind: 'rejected' });
    stranger.close();
    const away = connect({ endpoint: 'http://127.0.0.1:1' });
    await expect(away.head('x')).rejects.toMatchObject({ kind: 'unavailable' });
    away.close();
    await expect(connect({ bucket: 'no-such-bucket' }).ping()).rejects.toMatchObject({
      name: 'StorageError',
    });
  });

  it('of a busy store are retried, a bounded number of times', async () => {
    let requests = 0;
    const count = ({ key }: { key: string }) => {
      if (key === 'busy') requests++;
      return key === 'busy';
    };
    server.faults.set({ slowDownRate: 0.5, applies: count });
    await storage.put('busy', Buffer.from('x'), asText);
    expect(await storage.head('busy')).toMatchObject({ sizeBytes: 1 });
    server.faults.set({ slowDownRate: 1 });
    requests = 0;
    await expect(storage.head('busy')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(storage.getBuffer('busy')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(requests).toBe(8);
  });

  it('in the middle of a transfer start it over and leave no partial file', async () => {
    const bytes = randomBytes(2_000_000);
    const target = join(directory, 'resumed');
    const source = join(directory, 'resumed-source');
    await writeFile(source, bytes);
    server.faults.set({ resetRate: 0.5 });
    await storage.put('reset', { file: source }, asText);
    await storage.put('reset', { file: source }, asText);
    await storage.getToFile('reset', target);
    await storage.getToFile('reset', target);
    expect((await readFile(target)).equals(bytes)).toBe(true);

    server.faults.set({ resetRate: 1 });
    await expect(storage.getToFile('reset', join(directory, 'never'))).rejects.toMatchObject({
      kind: 'unavailable',
    });
    expect((await readdir(directory)).filter((name) => name.startsWith('never'))).toEqual([]);
  });

  it('of local files are passed on unchanged and do not mean that the store is unavailable', async () => {
    await storage.put('here', Buffer.from('x'), asText);
    const nowhere = join(directory, 'no-such-folder', 'file');
    await expect(storage.getToFile('here', nowhere)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(storage.put('here', { file: nowhere }, asText)).rejects.toMatchObject({ code: 'ENOENT' });
    // A directory can be opened but not read, which only shows once the request is under way.
    await expect(storage.put('here', { file: directory }, asText)).rejects.toMatchObject({ code: 'EISDIR' });
  });

  onLinux('to send a file leave it closed', async () => {
    const source = join(await realpath(directory), 'held');
    await writeFile(source, '');
    // More than fits into the buffers on the way, so that the file is never read to its end.
    await truncate(source, 64_000_000);
    const abort = new AbortController();
    server.faults.set({ heldUntil: never });
    const putting = storage.put('held', { file: source }, { ...asText, signal: abort.signal });
    await eventually(async () => expect(await openFiles()).toContain(source));
    abort.abort(new Error('cancelled'));
    await expect(putting).rejects.toThrow('cancelled');
    await eventually(async () => expect(await openFiles()).not.toContain(source));
  });

  /** What this process has open. */
  async function openFiles(): Promise<string[]> {
    const descriptors = await readdir('/proc/self/fd');
    return Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  }

  it('through the caller’s own signal are passed on unchanged', async () => {
    const abort = new AbortController();
    server.faults.set({ heldUntil: never });
    const { signal } = abort;
    const pending = [
      storage.put('slow', Buffer.from('x'), { ...asText, signal }),
      storage.delete(['slow'], { signal }),
      storage.head('slow', { signal }),
    ];
    abort.abort(new Error('cancelled'));
    await Promise.all(pending.map((call) => expect(call).rejects.toThrow('cancelled')));
  });
});

describe('pages in browsers', () => {
  const others = [
    { ID: 'players', AllowedOrigins: ['*'], AllowedMethods: ['GET'] },
    { ID: 'tools', AllowedOrigins: ['https://*.example.com'], AllowedMethods: ['HEAD'], MaxAgeSeconds: 5 },
  ];

  it('are let in before what other rules of the bucket say, and those stay as they are', async () => {
    const client = createS3Client({ ...server, forcePathStyle: true }, server.endpoint, 1);
    const Bucket = server.bucket;
    await client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: others } }));
    const origin = 'https://lipsync.example.com';
    expect(await storage.allowBrowsers([origin])).toEqual({ change: 'added', kept: 2 });
    expect(await storage.allowBrowsers([origin])).toEqual({ change: 'none', kept: 2 });
    const { CORSRules } = await client.send(new GetBucketCorsCommand({ Bucket }));
    client.destroy();
    expect(CORSRules?.slice(1)).toEqual(others);

    await storage.put('for-pages', Buffer.from('abcdef'), asText);
    const { url } = await storage.presignGet('for-pages', { ...asText, filename: 'a', expiresSeconds: 60 });
    const { headers } = await fetch(url, { headers: { origin, range: 'bytes=2-3' } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-expose-headers')).toContain('Content-Range');
  });
});
