import { createHash, randomBytes } from 'node:crypto';
import {
  type CustomerLimits,
  formatApiKey,
  hashApiKey,
  type IdPrefix,
  lastFourOf,
  newId,
} from '@lipsync/domain';
import { Pool } from 'pg';

/** What the audit log says of what a test changes as an operator. */
export const TEST_ACT = { actor: 'test', command: 'test' };

/** Inserts rows that a test needs but does not test, directly into a test database. */
export interface Factories {
  /** Creates a customer without a webhook secret. Returns its id. */
  customer(limits?: Partial<CustomerLimits>): Promise<string>;
  /** Creates a key of the customer, in the form for the Authorization header. */
  apiKey(customerId: string): Promise<string>;
  /** Creates an asset whose bytes are stored and probed. Returns its id. */
  readyAsset(asset: { customerId: string; mediaType: 'video' | 'audio'; sha256?: string }): Promise<string>;
  /** Creates a worker that was just seen, with `slots` by queue. Returns its id. */
  worker(slots: Readonly<Record<string, number>>): Promise<string>;
  query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export function createFactories(databaseUrl: string): Factories {
  const pool = new Pool({ connectionString: databaseUrl, max: 2 });
  // A test may cut the connections on purpose.
  pool.on('error', () => undefined);
  const id = (prefix: IdPrefix): string => newId(prefix, Date.now(), randomBytes(10));
  const insert = async (table: string, row: Readonly<Record<string, unknown>>): Promise<void> => {
    const columns = Object.keys(row);
    const holders = columns.map((_, index) => `$${index + 1}`);
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${holders.join(', ')})`;
    await pool.query(sql, Object.values(row));
  };

  return {
    customer: async (limits = {}) => {
      const customerId = id('cus');
      await insert('customers', {
        id: customerId,
        name: 'A customer',
        post_per_minute: limits.postPerMinute ?? null,
        get_per_minute: limits.getPerMinute ?? null,
        active_records_max: limits.activeRecordsMax ?? null,
        running_jobs_max: limits.runningJobsMax ?? null,
        open_uploads_max: limits.openUploadsMax ?? null,
      });
      return customerId;
    },
    apiKey: async (customerId) => {
      const key = formatApiKey(randomBytes(32));
      const row = {
        id: id('key'),
        customer_id: customerId,
        hash: hashApiKey(key),
        last_four: lastFourOf(key),
      };
      await insert('api_keys', row);
      return key;
    },
    readyAsset: async ({ customerId, mediaType, sha256 }) => {
      const assetId = id('ast');
      const picture = mediaType === 'video' ? { width: 1280, height: 720, frames: 100, fps: 25 } : {};
      await insert('assets', {
        id: assetId,
        customer_id: customerId,
        media_type: mediaType,
        status: 'ready',
        stage: 'ready',
        content_type: mediaType === 'video' ? 'video/mp4' : 'audio/wav',
        object_key: `assets/${assetId}/original`,
        sha256: sha256 ?? createHash('sha256').update(assetId).digest('hex'),
        size_bytes: 1000,
        duration_seconds: 4,
        codec: mediaType === 'video' ? 'h264' : 'pcm_s16le',
        ...picture,
        expires_at: new Date(Date.now() + 7 * 86_400_000),
      });
      return assetId;
    },
    worker: async (slots) => {
      const workerId = `worker-${randomBytes(6).toString('hex')}`;
      await insert('workers', { id: workerId, service: 'test', slots: JSON.stringify(slots) });
      return workerId;
    },
    query: async <Row extends object>(sql: string, values: unknown[] = []) =>
      (await pool.query<Row>(sql, values)).rows,
    close: () => pool.end(),
  };
}
