import {
  cancelRender,
  claimDeliveries,
  createDb,
  createRender,
  type Db,
  type NewRender,
  settleDelivery,
} from '@lipsync/db';
import { createFactories, createTestDatabase, type Factories } from '@lipsync/testkit';
import { runAdmin } from '../src';
import { type Environment } from '../src/connect';

export const PREVIOUS_MASTER_KEY = 'cd'.repeat(32);
/** For commands that would ask the store if there were anything to ask. */
const NO_STORE = {
  S3_ENDPOINT: 'http://127.0.0.1:1',
  S3_BUCKET: 'none',
  S3_ACCESS_KEY_ID: 'none',
  S3_SECRET_ACCESS_KEY: 'none',
};
const PUBLIC_BASE_URL = 'https://api.example.com';
const WEBHOOK_URL = 'https://hooks.example.com/lipsync?token=of-the-customer';
const TTL_SECONDS = 7 * 86_400;

interface Outcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A separate database, and functions to run commands on it. */
export interface Operator {
  db: Db;
  make: Factories;
  run(...args: string[]): Promise<Outcome>;
  /** The same in a database in which it cannot write. */
  runReadOnly(...args: string[]): Promise<Outcome>;
  /** Runs a command with --json, which must succeed, and returns the one JSON value that it prints. */
  json<T>(...args: string[]): Promise<T>;
  /** Creates a render of two ready assets, unless told otherwise. Returns its id. */
  render(customerId: string, change?: Partial<NewRender['request']>): Promise<string>;
  /** Creates an event whose only delivery was given up this many hours ago. Returns its id. */
  failedEvent(customerId: string, hoursAgo?: number): Promise<string>;
  close(): Promise<void>;
}

/** Runs one command and returns its output. */
export async function runCommand(environment: Environment, ...args: string[]): Promise<Outcome> {
  const written = { stdout: '', stderr: '' };
  const argv = jest.replaceProperty(process, 'argv', ['node', 'admin', ...args]);
  const streams = (['stdout', 'stderr'] as const).map((stream) =>
    jest.spyOn(process[stream], 'write').mockImplementation((text) => {
      written[stream] += String(text);
      return true;
    }),
  );
  try {
    process.exitCode = undefined;
    await runAdmin(() => environment, 'under test');
    return { exitCode: Number(process.exitCode ?? 0), ...written };
  } finally {
    argv.restore();
    for (const stream of streams) stream.mockRestore();
    process.exitCode = undefined;
  }
}

/** @param settings beyond those that every command needs */
export async function openOperator(settings: Environment = {}): Promise<Operator> {
  const database = await createTestDatabase();
  const db = createDb({ url: database.url, poolMax: 2, publicBaseUrl: PUBLIC_BASE_URL });
  const make = createFactories(database.url);
  await make.worker({ media: 1, preparation: 1, musetalk: 1, latentsync: 1, highsync: 1 });
  const environment = {
    DATABASE_URL: database.url,
    PUBLIC_BASE_URL,
    MASTER_KEY: 'ab'.repeat(32),
    MASTER_KEY_PREVIOUS: PREVIOUS_MASTER_KEY,
    ...NO_STORE,
    ...settings,
  };
  const readOnly = new URL(database.url);
  readOnly.searchParams.append('options', '-c default_transaction_read_only=on');

  const run = (...args: string[]): Promise<Outcome> => runCommand(environment, ...args);

  const render = async (customerId: string, change: Partial<NewRender['request']> = {}): Promise<string> => {
    const request: NewRender['request'] = {
      video: { asset_id: await make.readyAsset({ customerId, mediaType: 'video' }) },
      audio: { asset_id: await make.readyAsset({ customerId, mediaType: 'audio' }) },
      engines: ['musetalk'],
      sync_mode: 'cut_off',
      webhook_url: WEBHOOK_URL,
      ...change,
    };
    const input = { customerId, request, idempotency: null, ttlSeconds: TTL_SECONDS };
    return (await createRender(db, input)).render.id;
  };

  return {
    db,
    make,
    run,
    runReadOnly: (...args) => runCommand({ ...environment, DATABASE_URL: readOnly.href }, ...args),
    json: async <T>(...args: string[]): Promise<T> => {
      const { exitCode, stdout, stderr } = await run(...args, '--json');
      if (exitCode !== 0) throw new Error(`admin ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    render,
    failedEvent: async (customerId, hoursAgo = 1) => {
      const { webhookEventId } = await cancelRender(db, customerId, await render(customerId));
      const claim = { limit: 100, leaseSeconds: 20, perOrigin: 100, perCustomer: 100 };
      const delaysSeconds: number[] = [];
      const { claimed } = await claimDeliveries(db, { ...claim, delaysSeconds });
      const delivery = claimed.find(({ eventId }) => eventId === webhookEventId);
      if (delivery === undefined) throw new Error('not claimed');
      const { id, eventId } = delivery;
      const outcome = { kind: 'failed', error: 'http_error', httpStatus: 503 } as const;
      await settleDelivery(db, delivery, outcome, { jitter: 0.5, delaysSeconds });
      await make.query(
        `UPDATE webhook_deliveries SET created_at = now() - make_interval(hours => $2 + 1),
           updated_at = now() - make_interval(hours => $2) WHERE id = $1`,
        [id, hoursAgo],
      );
      return eventId;
    },
    close: async () => {
      await make.close();
      await db.close();
      await database.drop();
    },
  };
}
