import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDb, createRender, type Db } from '@lipsync/db';
import { encodeFaceTrack } from '@lipsync/lipsync';
import { createStorage, type Storage } from '@lipsync/storage';
import {
  createFactories,
  createTestDatabase,
  type Factories,
  makeNumberedVideo,
  makeTone,
  type S3Server,
  startS3Server,
} from '@lipsync/testkit';
import { syntheticTrack } from './synthetic-track';

const SIZE = { width: 192, height: 192 };
const FRAMES = 20;

/** A database, an object store and in them a customer with a video, two speech tracks and a preparation. */
export interface RenderFixture {
  readonly db: Db;
  readonly databaseUrl: string;
  readonly storage: Storage;
  readonly s3: S3Server;
  readonly factories: Factories;
  /** A render of the video with the short or the long (about ten seconds of work) audio, and the job it waits for. */
  render(options: { audio: 'short' | 'long'; prepared: boolean }): Promise<NewRender>;
  /** A preparation of the video, and its job. */
  preparation(): Promise<{ preparationId: string; jobId: string }>;
  job(
    jobId: string,
  ): Promise<{ status: string; attempts: number; fence: number; last_error_code: string | null }>;
  close(): Promise<void>;
}

export interface NewRender {
  readonly renderId: string;
  readonly runId: string;
  readonly jobId: string;
  readonly customerId: string;
}

/** `folder` holds the media files while they are made. */
export async function createRenderFixture(folder: string): Promise<RenderFixture> {
  const database = await createTestDatabase();
  const db = createDb({ url: database.url, poolMax: 4, publicBaseUrl: 'https://api.example.com' });
  const factories = createFactories(database.url);
  const s3 = await startS3Server();
  const storage = createStorage({ ...s3, forcePathStyle: true });
  const customerId = await factories.customer();
  await factories.worker({ musetalk: 1, preparation: 1 });

  const asset = async (mediaType: 'video' | 'audio', name: string): Promise<string> => {
    const bytes = await readFile(join(folder, name));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const id = await factories.readyAsset({ customerId, mediaType, sha256 });
    await storage.put(`assets/${id}/original`, bytes, { contentType: 'application/octet-stream' });
    return id;
  };
  await makeNumberedVideo(join(folder, 'video.mp4'), { frames: FRAMES, ...SIZE });
  await makeTone(join(folder, 'short.wav'), { seconds: 0.6 });
  await makeTone(join(folder, 'long.wav'), { seconds: 30 });
  const video = await asset('video', 'video.mp4');
  const audio = { short: await asset('audio', 'short.wav'), long: await asset('audio', 'long.wav') };

  const track = syntheticTrack({ frames: FRAMES, ...SIZE, box: { x1: 40, y1: 50, x2: 150, y2: 180 } });
  const prepared = db.newId('prp');
  await storage.put(`preparations/${prepared}/1/face-track.bin`, encodeFaceTrack(track), {
    contentType: 'application/octet-stream',
  });
  await factories.query(
    `INSERT INTO preparations (id, customer_id, status, stage, progress_percent, completed_at, video_asset_id, video_sha256,
       track_key, expires_at)
     SELECT $1, customer_id, 'completed', 'completed', 100, now(), id, sha256, $2, expires_at FROM assets WHERE id = $3`,
    [prepared, `preparations/${prepared}/1/face-track.bin`, video],
  );

  const one = async <Row extends object>(sql: string, values: unknown[]): Promise<Row> => {
    const [row] = await factories.query<Row>(sql, values);
    if (!row) throw new Error(`no row: ${sql}`);
    return row;
  };

  return {
    db,
    databaseUrl: database.url,
    storage,
    s3,
    factories,
    render: async (options) => {
      const { render, runs } = await createRender(db, {
        customerId,
        request: {
          video: { asset_id: video },
          audio: { asset_id: audio[options.audio] },
          engines: ['musetalk'],
          sync_mode: 'loop',
          webhook_url: 'https://hooks.example.com/',
          ...(options.prepared ? { preparation_id: prepared } : {}),
        },
        idempotency: null,
        ttlSeconds: 3600,
      });
      const runId = runs[0]?.id ?? '';
      const { id } = await one<{ id: string }>('SELECT id FROM jobs WHERE engine_run_id = $1', [runId]);
      return { renderId: render.id, runId, jobId: id, customerId };
    },
    preparation: async () => {
      const preparationId = db.newId('prp');
      const jobId = db.newId('job');
      await factories.query(
        `INSERT INTO preparations (id, customer_id, status, stage, video_asset_id, expires_at)
         SELECT $1, customer_id, 'accepted', 'queued', id, expires_at FROM assets WHERE id = $2`,
        [preparationId, video],
      );
      await factories.query(
        `INSERT INTO jobs (id, kind, queue, customer_id, preparation_id, status)
         VALUES ($1, 'analyze', 'preparation', $2, $3, 'queued')`,
        [jobId, customerId, preparationId],
      );
      return { preparationId, jobId };
    },
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
