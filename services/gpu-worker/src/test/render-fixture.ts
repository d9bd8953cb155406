import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, type SyncMode } from '@lipsync/contract';
import { createDb, createPreparation, createRender } from '@lipsync/db';
import { endOf } from '@lipsync/domain';
import { encodeFaceTrack } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { createStorage, featureKey } from '@lipsync/storage';
import {
  createFactories,
  createTestDatabase,
  ffmpeg,
  makeNumberedVideo,
  makeTone,
  startS3Server,
} from '@lipsync/testkit';
import { trackName } from '../supervisor/cached-features';
import { type Media } from './scripted-host';

const SIZE = { width: 192, height: 192 };
const FRAMES = { plain: 20, face: 225 };
const SPEECH_SECONDS = { short: 0.6, long: 30 };
const RECORD_SECONDS = 3600;
const SAMPLE_FACE = join(__dirname, '../../../../samples/face.mp4');

interface RenderOptions {
  /** Speech of 0.6 s, or of 30 s, for a render that is interrupted. */
  audio: 'short' | 'long';
  /** The preparation that the render names; true for that of the plain video. */
  prepared: boolean | string;
  /** Default: the plain video. */
  videoId?: string;
  /** Default: musetalk only. */
  engines?: Engine[];
  /** Default: loop. */
  syncMode?: SyncMode;
}

export interface NewJob {
  readonly runId: string;
  readonly jobId: string;
}

export type RenderFixture = Awaited<ReturnType<typeof createRenderFixture>>;

/** Media for the real child; `folder` holds them while they are made. */
export async function recordedMedia(folder: string): Promise<Media> {
  const at = (name: string): string => join(folder, name);
  await makeNumberedVideo(at('plain.mp4'), { frames: FRAMES.plain, ...SIZE });
  const small = [
    '-stream_loop',
    '1',
    '-i',
    SAMPLE_FACE,
    '-t',
    `${FRAMES.face / 25}`,
    '-vf',
    'scale=256:256',
    '-an',
  ];
  await ffmpeg([...small, '-c:v', 'libx264', '-preset', 'ultrafast', at('face.mp4')]);
  await makeTone(at('short.wav'), { seconds: SPEECH_SECONDS.short });
  await makeTone(at('long.wav'), { seconds: SPEECH_SECONDS.long });
  return {
    plain: await readFile(at('plain.mp4')),
    face: await readFile(at('face.mp4')),
    short: await readFile(at('short.wav')),
    long: await readFile(at('long.wav')),
  };
}

/**
 * A database and an object store, with a customer who has videos, two speech tracks and a preparation. The plain video
 * has 20 frames and no face; its preparation claims that there is one.
 */
export async function createRenderFixture(media: Media) {
  const database = await createTestDatabase();
  const db = createDb({ url: database.url, poolMax: 8, publicBaseUrl: 'https://api.example.com' });
  const factories = createFactories(database.url);
  const s3 = await startS3Server();
  const storage = createStorage({ ...s3, forcePathStyle: true });
  const customerId = await factories.customer({ activeRecordsMax: 1000 });
  await factories.worker({ musetalk: 1, latentsync: 1, highsync: 1, preparation: 1 });
  // No process refreshes its row, and the tests of one file take longer than a worker may be silent.
  await factories.query(`UPDATE workers SET seen_at = now() + interval '1 hour'`);
  const one = async <Row extends object>(sql: string, values: unknown[]): Promise<Row> => {
    const [row] = await factories.query<Row>(sql, values);
    if (!row) throw new Error(`no row: ${sql}`);
    return row;
  };

  const asset = async (mediaType: 'video' | 'audio', bytes: Uint8Array, seconds: number): Promise<string> => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const id = await factories.readyAsset({ customerId, mediaType, sha256 });
    await factories.query('UPDATE assets SET duration_seconds = $2 WHERE id = $1', [id, seconds]);
    await storage.put(`assets/${id}/original`, bytes, { contentType: 'application/octet-stream' });
    return id;
  };
  const plain = await asset('video', media.plain, FRAMES.plain / 25);
  const audio = {
    short: await asset('audio', media.short, SPEECH_SECONDS.short),
    long: await asset('audio', media.long, SPEECH_SECONDS.long),
  };

  /** A preparation of a video, by default the plain one, and its job. */
  const preparation = async (videoId = plain): Promise<{ preparationId: string; jobId: string }> => {
    const request = { video: { asset_id: videoId } };
    const record = { customerId, request, idempotency: null, ttlSeconds: RECORD_SECONDS };
    const preparationId = (await createPreparation(db, record)).preparation.id;
    const job = await one<{ id: string }>('SELECT id FROM jobs WHERE preparation_id = $1', [preparationId]);
    return { preparationId, jobId: job.id };
  };
  const prepared = await preparation();
  await prepareByHand();

  /** Stores the track that an analyzer would make if it saw a face in the plain video. */
  async function prepareByHand(): Promise<void> {
    const frames = FRAMES.plain;
    const track = syntheticTrack({ frames, ...SIZE, box: { x1: 40, y1: 50, x2: 150, y2: 180 } });
    const bytes = encodeFaceTrack(track);
    const { sha256: videoSha256 } = await one<{ sha256: string }>('SELECT sha256 FROM assets WHERE id = $1', [
      plain,
    ]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await storage.put(featureKey({ customerId, videoSha256, sha256 }), bytes, {
      contentType: 'application/octet-stream',
    });
    await factories.query(
      `INSERT INTO features (customer_id, video_sha256, name, sha256, seconds, complete, expires_at)
       VALUES ($1, $2, $3, $4, $5, true, now() + interval '1 hour')`,
      [customerId, videoSha256, trackName(track), sha256, endOf(track.clock)],
    );
    await factories.query(
      `UPDATE preparations SET status = 'completed', stage = 'completed', progress_percent = 100, completed_at = now(),
         version = $2, analyzer_version = $3, video_sha256 = $4 WHERE id = $1`,
      [prepared.preparationId, track.version, track.analyzerVersion, videoSha256],
    );
    await factories.query(`UPDATE jobs SET status = 'finished' WHERE id = $1`, [prepared.jobId]);
  }

  return {
    db,
    /** The database and object store settings of a service. */
    environment: {
      DATABASE_URL: database.url,
      S3_ENDPOINT: s3.endpoint,
      S3_BUCKET: s3.bucket,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    },
    storage,
    s3,
    factories,
    customerId,
    /** A new asset with nine seconds of a face, or with the plain video's pictures; its bytes are unique. */
    newVideo: (shows: 'face' | 'no face') => {
      const kind = shows === 'face' ? 'face' : 'plain';
      return asset('video', Buffer.concat([media[kind], freeBox(randomBytes(16))]), FRAMES[kind] / 25);
    },
    /** A new asset with the bytes of an existing one. */
    twinOf: async (videoId: string) => {
      const { seconds } = await one<{ seconds: number }>(
        'SELECT duration_seconds AS seconds FROM assets WHERE id = $1',
        [videoId],
      );
      return asset('video', await storage.getBuffer(`assets/${videoId}/original`), seconds);
    },
    /** A new render and its jobs, one per engine; `jobId` and `runId` are the first engine's. */
    render: async (options: RenderOptions) => {
      const preparationId = options.prepared === true ? prepared.preparationId : options.prepared;
      const { render, runs } = await createRender(db, {
        customerId,
        request: {
          video: { asset_id: options.videoId ?? plain },
          audio: { asset_id: audio[options.audio] },
          engines: options.engines ?? ['musetalk'],
          sync_mode: options.syncMode ?? 'loop',
          webhook_url: 'https://hooks.example.com/',
          ...(preparationId === false ? {} : { preparation_id: preparationId }),
        },
        idempotency: null,
        ttlSeconds: RECORD_SECONDS,
      });
      const jobs: NewJob[] = [];
      for (const { id: runId } of runs) {
        const { id } = await one<{ id: string }>('SELECT id FROM jobs WHERE engine_run_id = $1', [runId]);
        jobs.push({ runId, jobId: id });
      }
      const [first] = jobs;
      if (!first) throw new Error('a render without engines');
      return { ...first, jobs, renderId: render.id, customerId };
    },
    preparation,
    job: (jobId: string) =>
      one<{ status: string; attempts: number; fence: number; last_error_code: string | null }>(
        'SELECT status, attempts, fence, last_error_code FROM jobs WHERE id = $1',
        [jobId],
      ),
    /** The row of a render, a preparation or an engine's run. */
    row: (table: 'renders' | 'engine_runs' | 'preparations', id: string) =>
      one<Record<string, unknown>>(`SELECT * FROM ${table} WHERE id = $1`, [id]),
    /** Lets a job that waits for another attempt be claimed at once. */
    retryNow: (jobId: string) =>
      factories.query(`UPDATE jobs SET available_at = now() - interval '1 ms' WHERE id = $1`, [jobId]),
    close: async () => {
      await factories.close();
      await db.close();
      storage.close();
      await s3.close();
      await database.drop();
    },
  };
}

/** A box of an MP4 file that every reader skips. */
function freeBox(content: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(head.length + content.length, 0);
  head.write('free', 4, 'latin1');
  return Buffer.concat([head, content]);
}
