import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ERROR_CATALOGUE } from '@lipsync/contract';
import {
  claimJob,
  completeUpload,
  createAsset,
  createCustomer,
  createDb,
  createUpload,
  type Db,
} from '@lipsync/db';
import { assetResource, type AssetRow, MAX_ATTEMPTS, MEDIA_MAX_BYTES } from '@lipsync/domain';
import { readStoredStream, resolveBinaries } from '@lipsync/media';
import { createEgress, createLogger } from '@lipsync/runtime';
import { createStorage, type Storage, uploadKey } from '@lipsync/storage';
import { untraced } from '@lipsync/telemetry';
import {
  createTestDatabase,
  eventually,
  ffmpeg,
  type HttpsReceiver,
  makeNumberedVideo,
  makeTone,
  type ReceiverReply,
  type S3Server,
  startHttpsReceiver,
  startS3Server,
  TEST_ACT,
  type TestDatabase,
} from '@lipsync/testkit';
import { createJobFolders } from '@lipsync/worker';
import { createIngestRunner, type IngestRunner } from './ingest-runner';

const HOST = 'media.example.test';
const NEVER = new AbortController().signal;

let database: TestDatabase;
let db: Db;
let s3: S3Server;
let storage: Storage;
let origin: HttpsReceiver;
let workDir: string;
let samples: string;
let run: IngestRunner;
let customerId: string;
let video: Buffer;
const replies = new Map<string, ReceiverReply>();

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ url: database.url, poolMax: 5, publicBaseUrl: 'https://api.example.test' });
  s3 = await startS3Server();
  storage = createStorage({ ...s3, forcePathStyle: true });
  origin = await startHttpsReceiver({
    hostnames: [HOST],
    script: ({ path }) => replies.get(path) ?? { status: 404 },
  });
  workDir = await mkdtemp(join(tmpdir(), 'ingest-'));
  samples = join(workDir, 'samples');
  await mkdir(samples);
  await makeNumberedVideo(join(samples, 'video.mp4'), { frames: 30 });
  await makeTone(join(samples, 'tone.mp3'), { seconds: 1 });
  video = await readFile(join(samples, 'video.mp4'));
  run = await runner();
  customerId = (await createCustomer(db, TEST_ACT, { name: 'A', sealSecret: () => new Uint8Array(1) })).id;
});

afterAll(async () => {
  await origin.close();
  await db.close();
  storage.close();
  await s3.close();
  await database.drop();
  await rm(workDir, { recursive: true, force: true });
});

/** With limits that no test waits for, but for the time to the first byte where a test says so. */
async function runner(firstByte = 600): Promise<IngestRunner> {
  return createIngestRunner({
    db,
    storage,
    workerId: 'w',
    logger: createLogger({ service: 'test', level: 'silent' }),
    telemetry: untraced(),
    folders: await createJobFolders(join(workDir, 'jobs')),
    binaries: await resolveBinaries(process.env),
    egress: createEgress({
      nodeEnv: 'test',
      allowedPorts: 'https-443',
      routes: new Map([[`${HOST}:443`, origin.address]]),
      ca: origin.ca,
    }),
    downloadSeconds: { total: 600, firstByte },
    probeTimeoutMs: 600_000,
  });
}

async function urlAsset(path: string, mediaType: 'video' | 'audio' = 'video'): Promise<AssetRow> {
  const url = path.startsWith('https:') ? path : `https://${HOST}${path}`;
  return createAsset(db, { customerId, mediaType, url, ttlSeconds: 600 });
}

async function uploadedAsset(bytes: Uint8Array): Promise<{ asset: AssetRow; stagingKey: string }> {
  const { upload } = await createUpload(db, {
    customerId,
    mediaType: 'video',
    contentType: 'video/mp4',
    sizeBytes: bytes.length,
    ttlSeconds: 600,
    assetTtlSeconds: 600,
    stagingKey: uploadKey,
  });
  await storage.put(upload.stagingKey, bytes, { contentType: 'video/mp4' });
  const asset = await completeUpload(db, customerId, upload.id, (stored) => storage.head(stored.stagingKey));
  return { asset, stagingKey: upload.stagingKey };
}

/** As `get_asset` shows it. */
const errorOf = (asset: Awaited<ReturnType<typeof now>>) =>
  assetResource({ ...asset, sizeBytes: Number(asset.sizeBytes) }).error;
const jobOf = (asset: AssetRow) => db.prisma.job.findUniqueOrThrow({ where: { assetId: asset.id } });
const now = (asset: AssetRow) => db.prisma.asset.findUniqueOrThrow({ where: { id: asset.id } });

async function ingested(asset: AssetRow, by = run) {
  await by((await jobOf(asset)).id, NEVER);
  return now(asset);
}

async function expectPutOffWithoutStorage(asset: AssetRow): Promise<void> {
  s3.faults.set({ slowDownRate: 1 });
  try {
    expect((await ingested(asset)).status).toBe('pending');
  } finally {
    s3.faults.clear();
  }
  expect(await jobOf(asset)).toMatchObject({
    status: 'queued',
    attempts: 0,
    lastErrorCode: 'storage_failed',
  });
}

async function storedKeys(asset: { id: string }): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of storage.list(`assets/${asset.id}/`)) keys.push(key);
  return keys;
}

const serve = (path: string, reply: ReceiverReply): string => {
  replies.set(path, reply);
  return path;
};

afterEach(async () => {
  const left = await readdir(join(workDir, 'jobs'));
  if (left.length > 0) throw new Error(`temporary files were left behind: ${left.join(', ')}`);
});

describe('an asset given by URL', () => {
  it('becomes ready with its measurements, its digest and its bytes under an immutable key', async () => {
    const path = serve('/video.mp4', {
      status: 200,
      headers: { 'content-type': 'Video/MP4; x=y' },
      body: video,
    });
    const asset = await ingested(await urlAsset(path));
    const sha256 = createHash('sha256').update(video).digest('hex');
    expect(asset).toMatchObject({
      status: 'ready',
      stage: 'ready',
      errorCode: null,
      sha256,
      sizeBytes: BigInt(video.length),
      codec: 'h264',
      width: 192,
      height: 64,
      frames: 30,
      fps: 25,
      contentType: 'video/mp4',
    });
    expect(asset.durationSeconds).toBeCloseTo(1.2, 3);
    const found = { frames: 30, fps: 25, rate: { num: 25, den: 1 }, scan: 'progressive', pixFmt: 'yuv420p' };
    expect(readStoredStream(asset.stream).video).toMatchObject(found);
    expect(await storage.getBuffer(asset.objectKey ?? '')).toEqual(video);
  });

  it('is measured as audio when it is audio', async () => {
    const body = await readFile(join(samples, 'tone.mp3'));
    const asset = await ingested(await urlAsset(serve('/tone.mp3', { status: 200, body }), 'audio'));
    expect(asset).toMatchObject({ status: 'ready', codec: 'mp3', width: null, frames: null });
    expect(readStoredStream(asset.stream).audio).toMatchObject({ codec: 'mp3', startSeconds: 0 });
  });

  it('is fetched over three redirects, and refused at the fourth', async () => {
    serve('/hop0', { status: 200, body: video });
    for (const hop of [1, 2, 3, 4])
      serve(`/hop${hop}`, { status: 302, headers: { location: `/hop${hop - 1}` } });
    expect(await ingested(await urlAsset('/hop3'))).toMatchObject({ status: 'ready' });
    expect(await ingested(await urlAsset('/hop4'))).toMatchObject({
      status: 'failed',
      errorCode: 'media_url_not_allowed',
    });
  });

  it('fails at once with media_not_accessible when the origin has no such file', async () => {
    const asset = await ingested(await urlAsset(serve('/absent', { status: 404 })));
    expect(asset).toMatchObject({ status: 'failed', stage: 'failed', errorCode: 'media_not_accessible' });
  });

  it.each([
    ['labeled as such', { status: 200, headers: { 'content-type': 'text/html' }, body: 'Please log in' }],
    [
      'labeled as a film',
      { status: 200, headers: { 'content-type': 'video/mp4' }, body: '<!DOCTYPE HTML><html>' },
    ],
  ])('fails with media_not_accessible when it is a web page %s', async (_name, reply) => {
    const asset = await ingested(await urlAsset(serve('/page', reply)));
    expect(asset).toMatchObject({ status: 'failed', errorCode: 'media_not_accessible' });
  });

  it.each<[string, ReceiverReply]>([
    ['503', { status: 503 }],
    ['a reset connection', 'reset'],
  ])(
    'is tried three times, with growing delays, before %s fails it with media_download_failed',
    async (_name, reply) => {
      const asset = await urlAsset(serve('/flaky', reply));
      const { id } = await jobOf(asset);
      for (const attempt of [1, 2]) {
        await run(id, NEVER);
        const job = await jobOf(asset);
        expect(job).toMatchObject({ status: 'queued', attempts: attempt, enqueuedAt: null });
        expect(job.availableAt.getTime()).toBeGreaterThan(Date.now());
        expect((await now(asset)).status).toBe('pending');
        await db.prisma.job.update({ where: { id }, data: { availableAt: new Date(0) } });
      }
      expect(await ingested(asset)).toMatchObject({ status: 'failed', errorCode: 'media_download_failed' });
    },
  );

  it('says how long its server was waited for, when it never sends a byte', async () => {
    const asset = await urlAsset(serve('/silent', 'hang'));
    const tried = { attempts: MAX_ATTEMPTS - 1, fence: MAX_ATTEMPTS - 1 };
    await db.prisma.job.update({ where: { assetId: asset.id }, data: tried });
    expect(errorOf(await ingested(asset, await runner(1)))).toEqual({
      code: 'media_download_failed',
      message:
        "The media's server did not answer: it has 5 seconds to accept the connection and 1 to send the first byte.",
      retryable: true,
    });
  });

  it('fails with media_too_large at the first byte over 256 MiB, whether or not the length was announced', async () => {
    const block = Buffer.alloc(1024 * 1024);
    const body = (): Readable => Readable.from(Array.from({ length: 257 }, () => block));
    const announced = { 'content-length': String(MEDIA_MAX_BYTES + 1) };
    for (const headers of [{}, announced]) {
      const asset = await ingested(await urlAsset(serve('/large', { status: 200, headers, body })));
      expect(asset).toMatchObject({ status: 'failed', errorCode: 'media_too_large' });
    }
  });

  it.each([
    ['a loopback address', 'https://127.0.0.1/video.mp4'],
    ['another port', `https://${HOST}:8443/video.mp4`],
  ])(
    'fails with media_url_not_allowed when it leads to %s, directly or by a redirect',
    async (_name, url) => {
      const direct = await ingested(await urlAsset(url));
      expect(direct).toMatchObject({ status: 'failed', errorCode: 'media_url_not_allowed' });
      const path = serve('/away', { status: 302, headers: { location: url } });
      const redirected = await ingested(await urlAsset(path));
      expect(redirected).toMatchObject({ status: 'failed', errorCode: 'media_url_not_allowed' });
    },
  );

  it.each([
    ['text named .mp4', '/text.mp4', 'video', 'media_unsupported'],
    ['an HLS playlist named .mp4', '/hls.mp4', 'video', 'media_unsupported'],
    ['half of a film', '/half.mp4', 'video', 'media_corrupt'],
    ['a film without sound given as audio', '/video.mp4', 'audio', 'media_type_mismatch'],
  ] as const)(
    'fails when its bytes are %s, and keeps none of them',
    async (_name, path, mediaType, errorCode) => {
      serve('/text.mp4', { status: 200, body: 'a letter'.repeat(100) });
      serve('/hls.mp4', { status: 200, body: '#EXTM3U\n#EXTINF:4,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n' });
      serve('/half.mp4', { status: 200, body: video.subarray(0, Math.floor(video.length / 2)) });
      serve('/video.mp4', { status: 200, body: video });
      const asset = await ingested(await urlAsset(path, mediaType));
      expect(errorOf(asset)?.code).toBe(errorCode);
      expect(await storedKeys(asset)).toEqual([]);
    },
  );
});

describe('the error of an asset that exceeds a limit', () => {
  it.each<[string, readonly string[], string]>([
    [
      'a side of its pictures',
      ['-f', 'lavfi', '-i', 'color=s=4352x64', '-frames:v', '2', '-c:v', 'mpeg4', 'wide.mp4'],
      'The frames are 4352 pixels wide; they may be at most 4096.',
    ],
    [
      'its codec',
      ['-f', 'lavfi', '-i', 'color=s=64x64', '-frames:v', '2', '-c:v', 'ffv1', 'ffv1.mkv'],
      'The video codec ffv1 is not supported; use one of H.264, HEVC, VP8, VP9, AV1, MPEG-4 Part 2, MPEG-2, ProRes, DNxHD, DNxHR, Motion JPEG.',
    ],
    [
      'its format',
      ['-f', 'lavfi', '-i', 'color=s=64x64', '-frames:v', '2', 'film.avi'],
      'The file format is not supported; use one of MP4, QuickTime, Matroska, WebM, MPEG-TS, WAV, AIFF, MP3, AAC, AC-3, E-AC-3, FLAC, Ogg, WMA.',
    ],
    [
      'the number of its pictures',
      ['-f', 'lavfi', '-i', 'color=s=16x16:r=1000', '-frames:v', '18100', '-c:v', 'mpeg4', 'fast.mkv'],
      'The video has more than 18060 frames; export it with at most 60 per second.',
    ],
    [
      'its duration',
      ['-f', 'lavfi', '-i', 'color=s=16x16:r=1', '-t', '302', '-c:v', 'mpeg4', 'long.mp4'],
      'The video lasts 302.0 seconds; it may last at most 300.',
    ],
  ])('names it and what was found: %s', async (_, args, message) => {
    const path = join(samples, args.at(-1) ?? '');
    await ffmpeg([...args.slice(0, -1), path]);
    const body = await readFile(path);
    const asset = await ingested(await urlAsset(serve(`/limit-${args.at(-1)}`, { status: 200, body })));
    expect(errorOf(asset)?.message).toBe(message);
  });
});

describe('an asset given by URL, while storage is unavailable', () => {
  it('is deferred before its origin is contacted, without charging an attempt', async () => {
    const asset = await urlAsset(serve('/not-yet.mp4', { status: 200, body: video }));
    await expectPutOffWithoutStorage(asset);
    expect(origin.requests.filter(({ path }) => path === '/not-yet.mp4')).toEqual([]);
  });
});

describe('an uploaded asset', () => {
  it('becomes ready with the bytes that it was completed with, which a later PUT cannot change', async () => {
    const { asset, stagingKey } = await uploadedAsset(video);
    const ready = await ingested(asset);
    expect(ready).toMatchObject({
      status: 'ready',
      sha256: createHash('sha256').update(video).digest('hex'),
    });
    await storage.put(stagingKey, Buffer.from('something else'), { contentType: 'video/mp4' });
    expect(await storage.getBuffer(ready.objectKey ?? '')).toEqual(video);
  });

  it('fails for good when its bytes were replaced between completion and ingest, and says so', async () => {
    const { asset, stagingKey } = await uploadedAsset(video);
    await storage.put(stagingKey, Buffer.alloc(video.length), { contentType: 'video/mp4' });
    const { status, errorCode } = await ingested(asset);
    expect([status, errorCode]).toEqual(['failed', 'upload_changed']);
    expect(ERROR_CATALOGUE.upload_changed).toMatchObject({ retryable: false, httpStatus: null });
  });

  it('fails when its bytes are unusable, and leaves no copy of them', async () => {
    const { asset } = await uploadedAsset(video.subarray(0, 2000));
    expect(await ingested(asset)).toMatchObject({ status: 'failed', errorCode: 'media_corrupt' });
    expect(await storedKeys(asset)).toEqual([]);
  });

  it('is deferred when storage is unavailable, without charging an attempt', async () => {
    const { asset } = await uploadedAsset(video);
    await expectPutOffWithoutStorage(asset);
  });
});

describe('an interrupted ingest', () => {
  it('is handed back with its attempt refunded when the worker is shut down', async () => {
    const asset = await urlAsset(serve('/slow', 'drip'));
    const { id } = await jobOf(asset);
    const shutdown = new AbortController();
    const running = run(id, shutdown.signal);
    await eventually(async () => expect(await jobOf(asset)).toMatchObject({ status: 'running' }));
    shutdown.abort();
    await running;
    expect(await jobOf(asset)).toMatchObject({
      status: 'queued',
      attempts: 0,
      leaseUntil: null,
      enqueuedAt: null,
    });
  });

  it('stops and writes nothing once another worker has taken over its job', async () => {
    const asset = await urlAsset(serve('/slow', 'drip'));
    const { id } = await jobOf(asset);
    const running = run(id, NEVER);
    await eventually(async () => expect(await jobOf(asset)).toMatchObject({ status: 'running' }));
    await db.prisma.job.update({ where: { id }, data: { leaseUntil: new Date(0) } });
    const usurper = await claimJob(db, id, { workerId: 'other', leaseSeconds: 60 });
    await running;
    expect(await jobOf(asset)).toMatchObject({ status: 'running', fence: usurper?.fence, workerId: 'other' });
  });

  it('removes from storage what an earlier attempt left there', async () => {
    const asset = await urlAsset(serve('/again.mp4', { status: 200, body: video }));
    await storage.put(`assets/${asset.id}/left-behind`, Buffer.from('x'), { contentType: 'video/mp4' });
    const ready = await ingested(asset);
    expect(await storedKeys(asset)).toEqual([ready.objectKey]);
  });

  it('reports its stage while it runs, and runs once however many messages its job has', async () => {
    const asset = await urlAsset(serve('/slow', 'drip'));
    const { id } = await jobOf(asset);
    const shutdown = new AbortController();
    const running = Promise.all([
      run(id, shutdown.signal),
      run(id, shutdown.signal),
      run(id, shutdown.signal),
    ]);
    await eventually(async () =>
      expect(await now(asset)).toMatchObject({ status: 'pending', stage: 'downloading' }),
    );
    expect(await jobOf(asset)).toMatchObject({ attempts: 1 });
    shutdown.abort();
    await running;
  });
});
