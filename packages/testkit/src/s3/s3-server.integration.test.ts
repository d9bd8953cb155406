import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { type S3Server, startS3Server } from './s3-server';

let server: S3Server;
let client: S3Client;
let nowMs: number | undefined;

function connect(to: S3Server, changes: S3ClientConfig = {}): S3Client {
  return new S3Client({
    endpoint: to.endpoint,
    region: to.region,
    credentials: { accessKeyId: to.accessKeyId, secretAccessKey: to.secretAccessKey },
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    ...changes,
  });
}

beforeAll(async () => {
  server = await startS3Server({ now: () => nowMs ?? Date.now() });
  client = connect(server);
});
afterEach(() => {
  nowMs = undefined;
  server.faults.clear();
});
afterAll(async () => {
  client.destroy();
  await server.close();
});

const put = (Key: string, Body: string | Uint8Array, more: object = {}) =>
  client.send(new PutObjectCommand({ Bucket: server.bucket, Key, Body, ...more }));
const get = async (Key: string, more: object = {}) => {
  const answer = await client.send(new GetObjectCommand({ Bucket: server.bucket, Key, ...more }));
  return { answer, body: (await answer.Body?.transformToString()) ?? '' };
};

/** A URL for exactly these bytes of this type, signed like in the service. */
const signPut = (Key: string, ContentType: string, ContentLength: number, more: object = {}) =>
  getSignedUrl(
    client,
    new PutObjectCommand({ Bucket: server.bucket, Key, ContentType, ContentLength, ...more }),
    {
      expiresIn: 900,
      signableHeaders: new Set(['host', 'content-type', 'content-length']),
    },
  );

/** Sends exactly these headers, whereas `fetch` would add its own. */
function send(method: string, url: string, headers: Record<string, string | number>, body = '') {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const outgoing = httpRequest(url, { method, headers }, (response) => {
      response
        .toArray()
        .then(
          (chunks: Buffer[]) =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          reject,
        );
    });
    outgoing.once('error', reject).end(body);
  });
}

describe('uploads by signed URL, checked like in a real store', () => {
  const typed = { 'content-type': 'video/mp4' };

  it('accepts the upload that was signed', async () => {
    const url = await signPut('ok', 'video/mp4', 4);
    expect(await send('PUT', url, { ...typed, 'content-length': 4 }, 'abcd')).toMatchObject({ status: 200 });
    expect(await get('ok')).toMatchObject({ body: 'abcd', answer: { ContentType: 'video/mp4' } });
  });

  it('refuses a body of another length', async () => {
    const url = await signPut('long', 'video/mp4', 4);
    const answer = await send('PUT', url, { ...typed, 'content-length': 5 }, 'abcde');
    expect(answer).toMatchObject({
      status: 403,
      text: expect.stringContaining('SignatureDoesNotMatch') as string,
    });
  });

  it('refuses a different content type', async () => {
    const url = await signPut('type', 'video/mp4', 4);
    const answer = await send('PUT', url, { 'content-type': 'text/html', 'content-length': 4 }, 'abcd');
    expect(answer).toMatchObject({
      status: 403,
      text: expect.stringContaining('SignatureDoesNotMatch') as string,
    });
  });

  it('refuses a body whose checksum is not the signed one', async () => {
    const plain = connect(server, { requestChecksumCalculation: 'WHEN_SUPPORTED' });
    const url = await getSignedUrl(plain, new PutObjectCommand({ Bucket: server.bucket, Key: 'crc' }));
    expect(url).toContain('x-amz-checksum-crc32=AAAAAA');
    const answer = await send('PUT', url, { 'content-length': 4 }, 'abcd');
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('BadDigest') as string });
    plain.destroy();
  });

  it('refuses a second upload if only the first was signed', async () => {
    const url = await signPut('once', 'video/mp4', 4, { IfNoneMatch: '*' });
    const headers = { ...typed, 'content-length': 4, 'if-none-match': '*' };
    expect(await send('PUT', url, headers, 'abcd')).toMatchObject({ status: 200 });
    expect(await send('PUT', url, headers, 'abcd')).toMatchObject({ status: 412 });
  });

  it('lets its second pair put objects under uploads/ and do nothing else', async () => {
    const uploader = connect(server, { credentials: server.uploadCredentials });
    const target = (Key: string) => ({ Bucket: server.bucket, Key, Body: 'x' });
    const denied = { name: 'AccessDenied' };
    await uploader.send(new PutObjectCommand(target('uploads/mine')));
    await expect(uploader.send(new GetObjectCommand(target('uploads/mine')))).rejects.toMatchObject(denied);
    await expect(uploader.send(new PutObjectCommand(target('assets/x')))).rejects.toMatchObject(denied);
    const published = new PutObjectCommand({ ...target('uploads/open'), ACL: 'public-read' });
    await expect(uploader.send(published)).rejects.toMatchObject(denied);
    uploader.destroy();
  });

  it('refuses an upload that omits a signed header', async () => {
    const url = await signPut('missing', 'video/mp4', 4);
    expect(await send('PUT', url, { 'content-length': 4 }, 'abcd')).toMatchObject({ status: 403 });
  });

  it('refuses unsigned headers, a different key or method, and a changed expiry', async () => {
    const url = await signPut('strict', 'video/mp4', 4);
    const headers = { ...typed, 'content-length': 4 };
    expect(await send('PUT', url, { ...headers, 'x-amz-acl': 'public-read' }, 'abcd')).toMatchObject({
      status: 403,
    });
    expect(await send('PUT', url.replace('/strict', '/other'), headers, 'abcd')).toMatchObject({
      status: 403,
    });
    expect(await send('GET', url, {})).toMatchObject({ status: 403 });
    expect(await send('PUT', url.replace('Expires=900', 'Expires=9000'), headers, 'abcd')).toMatchObject({
      status: 403,
    });
  });

  it('refuses an expired URL', async () => {
    const url = await signPut('late', 'video/mp4', 4);
    nowMs = Date.now() + 901_000;
    const answer = await send('PUT', url, { ...typed, 'content-length': 4 }, 'abcd');
    expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('expired') as string });
  });

  it("answers a browser's preflight and lets it read the response", async () => {
    const headers = { origin: 'https://app.example.test', 'access-control-request-headers': 'content-type' };
    expect(await send('OPTIONS', `${server.endpoint}/${server.bucket}/x`, headers)).toMatchObject({
      status: 200,
    });
    const url = await signPut('browser', 'video/mp4', 4);
    const response = await fetch(url, {
      method: 'PUT',
      headers: { ...typed, origin: 'https://app.example.test' },
      body: 'abcd',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('signed requests of the SDK', () => {
  it('refuses unsigned requests, unknown keys, wrong secrets and old requests', async () => {
    expect(await send('GET', `${server.endpoint}/${server.bucket}/x`, {})).toMatchObject({ status: 403 });
    const strangers = [
      connect(server, { credentials: { accessKeyId: 'nobody', secretAccessKey: server.secretAccessKey } }),
      connect(server, { credentials: { accessKeyId: server.accessKeyId, secretAccessKey: 'guess' } }),
    ];
    for (const stranger of strangers) {
      await expect(stranger.send(new HeadBucketCommand({ Bucket: server.bucket }))).rejects.toMatchObject({
        $metadata: { httpStatusCode: 403 },
      });
      stranger.destroy();
    }
    nowMs = Date.now() + 16 * 60_000;
    await expect(put('old', 'x')).rejects.toMatchObject({ name: 'RequestTimeTooSkewed' });
  });

  it('stores and returns bytes, type, metadata and entity tag under any key', async () => {
    const key = 'dir/ü & +space%2F"<>.mp4';
    await put(key, 'hello', { ContentType: 'video/mp4', Metadata: { origin: 'test' } });
    const { answer, body } = await get(key);
    expect(body).toBe('hello');
    expect(answer).toMatchObject({
      ContentType: 'video/mp4',
      ContentLength: 5,
      ETag: `"${createHash('md5').update('hello').digest('hex')}"`,
      Metadata: { origin: 'test' },
    });
  });

  it('accepts the uploads with trailing checksums that a default client sends', async () => {
    const standard = connect(server, { requestChecksumCalculation: 'WHEN_SUPPORTED' });
    const body = randomBytes(300_000);
    const command = new PutObjectCommand({
      Bucket: server.bucket,
      Key: 'trailer',
      Body: Readable.from([body.subarray(0, 100_000), body.subarray(100_000)]),
      ContentLength: body.length,
      ChecksumAlgorithm: 'CRC32',
    });
    await standard.send(command);
    const stored = await client.send(new GetObjectCommand({ Bucket: server.bucket, Key: 'trailer' }));
    expect(Buffer.from((await stored.Body?.transformToByteArray()) ?? [])).toEqual(body);
    standard.destroy();
  });

  it('serves ranges and the response headers that a signed request asks for', async () => {
    await put('range', '0123456789');
    expect((await get('range', { Range: 'bytes=2-4' })).body).toBe('234');
    expect((await get('range', { Range: 'bytes=7-' })).body).toBe('789');
    expect((await get('range', { Range: 'bytes=-2' })).body).toBe('89');
    await expect(get('range', { Range: 'bytes=10-' })).rejects.toMatchObject({ name: 'InvalidRange' });
    const { answer } = await get('range', {
      ResponseContentDisposition: 'attachment; filename="a.mp4"',
      ResponseContentType: 'video/mp4',
    });
    expect(answer).toMatchObject({
      ContentDisposition: 'attachment; filename="a.mp4"',
      ContentType: 'video/mp4',
    });
  });

  it('copies only the specified version', async () => {
    const { ETag = '' } = await put('source', 'first');
    const copy = (to: string, etag: string) =>
      client.send(
        new CopyObjectCommand({
          Bucket: server.bucket,
          Key: to,
          CopySource: `${server.bucket}/source`,
          CopySourceIfMatch: etag,
        }),
      );
    await copy('copied', ETag);
    await put('source', 'other');
    await expect(copy('refused', ETag)).rejects.toMatchObject({ $metadata: { httpStatusCode: 412 } });
    expect((await get('copied')).body).toBe('first');
    await expect(get('refused')).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  it('lists pages in key order and groups by delimiter', async () => {
    for (const key of ['list/b', 'list/a/1', 'list/a/2', 'list/c']) await put(key, 'x');
    const list = (more: object) =>
      client.send(new ListObjectsV2Command({ Bucket: server.bucket, Prefix: 'list/', ...more }));
    const first = await list({ MaxKeys: 3 });
    expect(first.Contents?.map(({ Key }) => Key)).toEqual(['list/a/1', 'list/a/2', 'list/b']);
    const second = await list({ MaxKeys: 3, ContinuationToken: first.NextContinuationToken });
    expect(second.Contents?.map(({ Key }) => Key)).toEqual(['list/c']);
    expect(second.IsTruncated).toBe(false);
    const grouped = await list({ Delimiter: '/' });
    expect(grouped.CommonPrefixes).toEqual([{ Prefix: 'list/a/' }]);
    expect(grouped.Contents?.map(({ Key }) => Key)).toEqual(['list/b', 'list/c']);
  });
});

describe('disk and faults', () => {
  it('has every object again after a restart', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 's3-restart-'));
    const first = await startS3Server({ dataDir });
    const writer = connect(first);
    await writer.send(new PutObjectCommand({ Bucket: first.bucket, Key: 'kept', Body: 'bytes' }));
    writer.destroy();
    await first.close();

    const { accessKeyId, secretAccessKey } = first;
    const second = await startS3Server({ dataDir, accessKeyId, secretAccessKey });
    const reader = connect(second);
    const answer = await reader.send(new GetObjectCommand({ Bucket: second.bucket, Key: 'kept' }));
    expect(await answer.Body?.transformToString()).toBe('bytes');
    reader.destroy();
    await second.close();
    await rm(dataDir, { recursive: true });
  });

  it('slows down and resets as often as configured, and only the selected requests', async () => {
    server.faults.set({ slowDownRate: 0.5, applies: ({ key }) => key === 'flaky' });
    const results = [];
    for (let index = 0; index < 4; index++) {
      results.push(
        await put('flaky', 'x').then(
          () => 'ok',
          (error: Error) => error.name,
        ),
      );
    }
    expect(results).toEqual(['ok', 'SlowDown', 'ok', 'SlowDown']);
    expect((await put('steady', 'x')).$metadata.httpStatusCode).toBe(200);
    server.faults.set({ slowDownRate: 0, resetRate: 1 });
    await expect(put('flaky', 'lost')).rejects.toThrow();
    server.faults.clear();
    expect((await get('flaky')).body).toBe('x');
  });
});
