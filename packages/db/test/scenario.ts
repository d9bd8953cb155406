import {
  type Engine,
  type ErrorCode,
  type Input,
  type MediaType,
  type RenderRequest,
} from '@lipsync/contract';
import { type AssetRow, isServiceError } from '@lipsync/domain';
import { createFactories, createTestDatabase, type Factories, type TestDatabase } from '@lipsync/testkit';
import {
  type Claim,
  claimJob,
  createAsset,
  createDb,
  type CreatedRender,
  createPreparation,
  createRender,
  createUpload,
  type Db,
  type IngestedMedia,
} from '../src';

export const DAY_SECONDS = 86_400;
export const WEBHOOK_URL = 'https://hooks.example.com/lipsync';
export const VIDEO = { url: 'https://media.example.com/v.mp4' };
export const AUDIO = { url: 'https://media.example.com/a.wav' };
const TTL_SECONDS = 7 * DAY_SECONDS;
const LIMITS = { activeRecordsMax: 10_000 };
const ALL_SLOTS = { media: 4, preparation: 2, musetalk: 4, latentsync: 4, highsync: 4 };
export const MEDIA: IngestedMedia = {
  objectKey: 'assets/some/object',
  sha256: 'a'.repeat(64),
  sizeBytes: 1234,
  contentType: 'video/mp4',
  durationSeconds: 4,
  codec: 'h264',
  stream: { form: 0 },
};

/** A database of its own with one customer and workers for every queue. */
export interface Scenario {
  database: TestDatabase;
  db: Db;
  make: Factories;
  customerId: string;
  /** Creates a render of two ready assets, unless told otherwise. */
  render(change?: Partial<RenderRequest>, customerId?: string): Promise<CreatedRender>;
  /** Creates an asset to be fetched from a URL. */
  asset(mediaType?: MediaType): Promise<AssetRow>;
  upload(customerId?: string): ReturnType<typeof createUpload>;
  preparation(video?: Input): ReturnType<typeof createPreparation>;
  jobs(renderId: string): Promise<JobState[]>;
  /** The only job of a render. */
  jobOf(renderId: string): Promise<string>;
  ingestJob(assetId: string): Promise<string>;
  claim(jobId: string, leaseSeconds?: number): Promise<Claim>;
  /** Lets the lease of a running job run out. */
  expireLease(jobId: string): Promise<void>;
  events(renderId: string): Promise<{ type: string; body: string; deliveries: number }[]>;
  /**
   * Deletes what a test has left behind, except for the customer and the audit log, which nobody can empty, so that the
   * next one can use the same database.
   */
  empty(): Promise<void>;
  close(): Promise<void>;
}

interface JobState {
  id: string;
  status: string;
  attempts: number;
  fence: number;
  queue: string;
}

export async function openScenario(): Promise<Scenario> {
  const database = await createTestDatabase();
  const db = createDb({ url: database.url, poolMax: 10, publicBaseUrl: 'https://api.example.com' });
  const make = createFactories(database.url);
  await make.worker(ALL_SLOTS);
  const customerId = await make.customer(LIMITS);

  const jobs = (renderId: string): Promise<JobState[]> =>
    make.query<JobState>(
      `SELECT jobs.id, jobs.status, attempts, fence, queue FROM jobs
       JOIN engine_runs ON engine_runs.id = engine_run_id WHERE render_id = $1 ORDER BY position`,
      [renderId],
    );

  return {
    database,
    db,
    make,
    customerId,
    asset: (mediaType = 'video') => {
      const { url } = mediaType === 'video' ? VIDEO : AUDIO;
      return createAsset(db, { customerId, mediaType, url, ttlSeconds: TTL_SECONDS });
    },
    upload: (owner = customerId) =>
      createUpload(db, {
        customerId: owner,
        mediaType: 'video',
        contentType: 'video/mp4',
        sizeBytes: 1234,
        ttlSeconds: 900,
        assetTtlSeconds: TTL_SECONDS,
        stagingKey: (id) => `uploads/${id}`,
      }),
    preparation: (video = VIDEO) => {
      const request = { video, webhook_url: WEBHOOK_URL };
      return createPreparation(db, { customerId, request, idempotency: null, ttlSeconds: TTL_SECONDS });
    },
    render: async (change = {}, owner = customerId) => {
      const video = { asset_id: await make.readyAsset({ customerId: owner, mediaType: 'video' }) };
      const audio = { asset_id: await make.readyAsset({ customerId: owner, mediaType: 'audio' }) };
      const engines: Engine[] = ['musetalk'];
      const request: RenderRequest = {
        video,
        audio,
        engines,
        sync_mode: 'cut_off',
        webhook_url: WEBHOOK_URL,
        ...change,
      };
      return createRender(db, { customerId: owner, request, idempotency: null, ttlSeconds: TTL_SECONDS });
    },
    jobs,
    jobOf: async (renderId) => only(await jobs(renderId)).id,
    ingestJob: async (assetId) => {
      const [job] = await make.query<{ id: string }>('SELECT id FROM jobs WHERE asset_id = $1', [assetId]);
      if (!job) throw new Error('no ingest job');
      return job.id;
    },
    claim: async (jobId, leaseSeconds = 30) => {
      const claim = await claimJob(db, jobId, { workerId: 'worker', leaseSeconds });
      if (!claim) throw new Error('not claimed');
      return claim;
    },
    expireLease: async (jobId) => {
      await make.query(`UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = $1`, [jobId]);
    },
    events: (renderId) =>
      make.query(
        `SELECT type, body, (SELECT count(*)::int FROM webhook_deliveries WHERE event_id = event.id) AS deliveries
         FROM webhook_events AS event WHERE render_id = $1`,
        [renderId],
      ),
    empty: async () => {
      const tables = await make.query<{ name: string }>(
        `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('_prisma_migrations', 'audit_log')`,
      );
      await make.query(tables.map(({ name }) => `DELETE FROM ${name}`).join('; '));
      await db.prisma.customer.create({ data: { id: customerId, name: 'A customer', ...LIMITS } });
      await make.worker(ALL_SLOTS);
    },
    close: async () => {
      await make.close();
      await db.close();
      await database.drop();
    },
  };
}

/** The only element of a list with one element. */
export function only<T>(list: readonly T[]): T {
  const [first, ...rest] = list;
  if (first === undefined || rest.length > 0) throw new Error(`expected one element, got ${list.length}`);
  return first;
}

/** The code of the ServiceError that `work` rejects with; null if it succeeds. */
export async function codeOf(work: Promise<unknown>): Promise<ErrorCode | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (isServiceError(error)) return error.code;
    throw error;
  }
}
