import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, HeadBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { type S3Server, startS3Server } from './s3-server';

let server: S3Server;
let client: S3Client;

function connect(
  to: S3Server,
  { accessKeyId, secretAccessKey }: { accessKeyId: string; secretAccessKey: string } = to,
  systemClockOffset = 0,
): S3Client {
  return new S3Client({
    endpoint: to.endpoint,
    region: to.region,
    credentials: { accessKeyId, secretAccessKey },
    systemClockOffset,
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
}

beforeAll(async () => {
  server = await startS3Server();
  client = connect(server);
});
afterEach(() => server.faults.clear());
afterAll(async () => {
  client.destroy();
  await server.close();
});

const put = (Key: string, Body: string, to = client) =>
  to.send(new PutObjectCommand({ Bucket: server.bucket, Key, Body }));
const get = async (Key: string, more: object = {}) => {
  const answer = await client.send(new GetObjectCommand({ Bucket: server.bucket, Key, ...more }));
  return (await answer.Body?.transformToString()) ?? '';
};

// That it refuses another length, type, key or signature, copies, public objects and wrong credentials, and answers a
// browser's preflight, is tested where the service relies on it: `storage.integration.test.ts` of storage and
// `bucket.integration.test.ts` of admin.
describe('a signed URL', () => {
  const headers = { 'content-type': 'video/mp4' };
  const sign = (Key: string, more: object = {}, signedAt = Date.now()) =>
    getSignedUrl(
      client,
      new PutObjectCommand({
        Bucket: server.bucket,
        Key,
        ContentType: 'video/mp4',
        ContentLength: 4,
        ...more,
      }),
      {
        expiresIn: 900,
        signingDate: new Date(signedAt),
        signableHeaders: new Set(['host', 'content-type', 'content-length']),
      },
    );
  const send = async (url: string, method = 'PUT') =>
    fetch(url, { method, ...(method === 'PUT' ? { body: 'abcd', headers } : {}) });

  it('is taken as it was signed, and with no other method or expiry', async () => {
    const url = await sign('strict');
    expect((await send(url, 'GET')).status).toBe(403);
    expect((await send(url.replace('Expires=900', 'Expires=9000'))).status).toBe(403);
    expect((await send(url)).status).toBe(200);
    expect(await get('strict')).toBe('abcd');
  });

  it('is refused once it has expired', async () => {
    const answer = await send(await sign('late', {}, Date.now() - 901_000));
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('expired');
  });

  it('is refused if it fixes a checksum, which would refuse every real body', async () => {
    expect((await send(await sign('crc', { ChecksumCRC32: 'AAAAAA==' }))).status).toBe(501);
  });
});

describe('requests of the SDK', () => {
  it('are refused if they are unsigned or old, or their key is unknown', async () => {
    await put('there', 'x');
    expect((await fetch(`${server.endpoint}/${server.bucket}/there`)).status).toBe(403);
    const stranger = connect(server, { ...server, accessKeyId: 'nobody' });
    await expect(stranger.send(new HeadBucketCommand({ Bucket: server.bucket }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 403 },
    });
    const old = connect(server, server, -16 * 60_000);
    await expect(put('old', 'x', old)).rejects.toMatchObject({ name: 'RequestTimeTooSkewed' });
    for (const each of [stranger, old]) each.destroy();
  });

  it('store and return bytes and entity tag under any key', async () => {
    const key = 'dir/ü & +space%2F"<>.mp4';
    const { ETag } = await put(key, 'hello');
    expect(ETag).toBe(`"${createHash('md5').update('hello').digest('hex')}"`);
    expect(await get(key)).toBe('hello');
  });

  it('get ranges', async () => {
    await put('range', '0123456789');
    expect(await get('range', { Range: 'bytes=2-4' })).toBe('234');
    expect(await get('range', { Range: 'bytes=7-' })).toBe('789');
    await expect(get('range', { Range: 'bytes=10-' })).rejects.toMatchObject({ name: 'InvalidRange' });
  });
});

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
  await put('steady', 'x');
  server.faults.set({ slowDownRate: 0, resetRate: 1 });
  await expect(put('flaky', 'lost')).rejects.toThrow();
  server.faults.clear();
  expect(await get('flaky')).toBe('x');
});
