import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, type SyncMode } from '@lipsync/contract';
import { createDb, createPreparation, createRender, type Db } from '@lipsync/db';
import { encodeFaceTrack } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { createStorage, featureKey, type Storage } from '@lipsync/storage';
import {
  createFactories,
  createTestDatabase,
  type Factories,
  ffmpeg,
  makeNumberedVideo,
  makeTone,
  type S3Server,
  startS3Server,
} from '@lipsync/testkit';
import { trackName } from '../supervisor/cached-features';

const SIZE = { width: 192, height: 192 };
const FRAMES = 20;
const SPEECH_SECONDS = { short: 0.6, long: 30 };
const RECORD_SECONDS = 3600;
const SAMPLE_FACE = join(__dirname, '../../../../samples/face.mp4');
/** Length of the small copy that tests use. */
const FACE_SECONDS = 3;

interface RenderOptions {
  /** Speech of 0.6 s, or of 30 s, which takes about ten seconds to render. */
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

/** A render and its jobs, one per engine; as a NewJob it is the first engine's. */
export interface NewRender extends NewJob {
  readonly renderId: string;
  readonly customerId: string;
  readonly jobs: readonly NewJob[];
}

/** A database and an object store, with a customer who has videos, two speech tracks and a preparation. */
export interface RenderFixture {
  readonly db: Db;
  /** The database and object store settings of a service. */
  readonly environment: Readonly<Record<string, string>>;
  readonly storage: Storage;
  readonly s3: S3Server;
  readonly factories: Factories;
  readonly customerId: string;
  /**
   * A new asset with three seconds of a face at 256 × 256, or with the plain video's pictures; its bytes are unique.
   */
  newVideo(shows: 'face' | 'no face'): Promise<string>;
  /** A new asset with the bytes of an existing one. */
  twinOf(videoId: string): Promise<string>;
  render(options: RenderOptions): Promise<NewRender>;
  /** A preparation of a video, by default the plain one, and its job. */
  preparation(videoId?: string): Promise<{ preparationId: string; jobId: string }>;
  job(
    jobId: string,
  ): Promise<{ status: string; attempts: number; fence: number; last_error_code: string | null }>;
  close(): Promise<void>;
}

/**
 * `folder` holds the media files while they are made. The plain video shows 20 numbered frames and no face; its
 * preparation claims that there is one.
 */
export async function createRenderFixture(folder: string): Promise<RenderFixture> {
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
  const speech = async (name: keyof typeof SPEECH_SECONDS): Promise<string> => {
    const file = join(folder, `${name}.wav`);
    await makeTone(file, { seconds: SPEECH_SECONDS[name] });
    return asset('audio', await readFile(file), SPEECH_SECONDS[name]);
  };
  await makeNumberedVideo(join(folder, 'video.mp4'), { frames: FRAMES, ...SIZE });
  const plain = await asset('video', await readFile(join(folder, 'video.mp4')), FRAMES / 25);
  const audio = { short: await speech('short'), long: await speech('long') };
  const small = ['-i', SAMPLE_FACE, '-t', `${FACE_SECONDS}`, '-vf', 'scale=256:256', '-an'];
  await ffmpeg([...small, '-c:v', 'libx264', '-preset', 'ultrafast', join(folder, 'face.mp4')]);

  const preparation = async (videoId = plain): Promise<{ preparationId: string; jobId: string }> => {
    const request = { video: { asset_id: videoId } };
    const created = await createPreparation(db, {
      customerId,
      request,
      idempotency: null,
      ttlSeconds: RECORD_SECONDS,
    });
    const preparationId = created.preparation.id;
    const { id } = await one<{ id: string }>('SELECT id FROM jobs WHERE preparation_id = $1', [
      preparationId,
    ]);
    return { preparationId, jobId: id };
  };
  const prepared = await preparation();
  await prepareByHand();

  /** Stores the track that an analyser would make if it saw a face in the plain video. */
  async function prepareByHand(): Promise<void> {
    const track = syntheticTrack({ frames: FRAMES, ...SIZE, box: { x1: 40, y1: 50, x2: 150, y2: 180 } });
    const bytes = encodeFaceTrack(track);
    const { sha256: videoSha256 } = await one<{ sha256: string }>('SELECT sha256 FROM assets WHERE id = $1', [
      plain,
    ]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await storage.put(featureKey({ customerId, videoSha256, sha256 }), bytes, {
      contentType: 'application/octet-stream',
    });
    await factories.query(
      `INSERT INTO features (customer_id, video_sha256, name, sha256, frames, complete, expires_at)
       VALUES ($1, $2, $3, $4, $5, true, now() + interval '1 hour')`,
      [customerId, videoSha256, trackName(track), sha256, FRAMES],
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
    newVideo: async (shows) => {
      const [file, seconds] = shows === 'face' ? ['face.mp4', FACE_SECONDS] : ['video.mp4', FRAMES / 25];
      const bytes = Buffer.concat([await readFile(join(folder, file)), freeBox(randomBytes(16))]);
      return asset('video', bytes, seconds);
    },
    twinOf: async (videoId) => {
      const { seconds } = await one<{ seconds: number }>(
        'SELECT duration_seconds AS seconds FROM assets WHERE id = $1',
        [videoId],
      );
      return asset('video', await storage.getBuffer(`assets/${videoId}/original`), seconds);
    },
    render: async (options) => {
      const { prepared: preparedBy } = options;
      const preparationId = preparedBy === true ? prepared.preparationId : preparedBy;
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
    job: (jobId) => one('SELECT status, attempts, fence, last_error_code FROM jobs WHERE id = $1', [jobId]),
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
