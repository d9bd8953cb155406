import { setTimeout as pause } from 'node:timers/promises';
import { type Act, createDb, type Db, hasCustomer } from '@lipsync/db';
import { createQueues, type Queues } from '@lipsync/queue';
import {
  createLogger,
  createSecretBox,
  loadEnv,
  type SecretBox,
  sharedSettings,
  STORAGE_SETTINGS,
  UPLOAD_SETTINGS,
  type z,
} from '@lipsync/runtime';
import { openStorage, type Storage } from '@lipsync/storage';

/** The database, as admin commands change it. */
export interface DatabaseContext {
  db: Db;
  /** What the audit log says of the command: whatever it changes is recorded with this (`recordAct`). */
  act: Act;
}

/** For the commands that store webhook secrets: the box that seals them, too. */
export interface SecretContext extends DatabaseContext {
  secretBox: SecretBox;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Opens the dependencies of a command, and closes them when the command has ended. */
export interface Connection {
  /** Provides the database alone (DATABASE_URL, PUBLIC_BASE_URL). */
  withDatabase<T>(action: (context: DatabaseContext) => Promise<T>): Promise<T>;
  /** Provides the database and the secret box (MASTER_KEY, MASTER_KEY_PREVIOUS). */
  withSecretBox<T>(action: (context: SecretContext) => Promise<T>): Promise<T>;
  /** Provides the object store (S3_…) and the name of its bucket. Signs URLs for `endpoint`, S3_ENDPOINT by default. */
  withStorage<T>(action: (storage: Storage, bucket: string) => Promise<T>, endpoint?: string): Promise<T>;
  /** DATABASE_URL, for PostgreSQL's own programs. */
  databaseUrl(): string;
  /** Provides the queues of jobs (REDIS_URL), connected. */
  withQueues<T>(action: (queues: Queues) => Promise<T>): Promise<T>;
  /** The origin of PUBLIC_BASE_URL, and so of the service's own pages. */
  publicOrigin(): string;
  /** What the operator has set about usage: USAGE_RETENTION_MONTHS, PRICE_LIST. */
  usageSettings(): z.output<typeof usageSettings>;
}

const usageSettings = sharedSettings.pick({ USAGE_RETENTION_MONTHS: true, PRICE_LIST: true });

export function connectedBy(environment: () => Environment, act: () => Act): Connection {
  const withDatabase: Connection['withDatabase'] = async (action) => {
    const wanted = sharedSettings.pick({ DATABASE_URL: true, PUBLIC_BASE_URL: true });
    const env = loadEnv(wanted, environment());
    const db = createDb({
      url: env.DATABASE_URL,
      poolMax: 2,
      publicBaseUrl: env.PUBLIC_BASE_URL,
      applicationName: 'admin',
    });
    try {
      return await action({ db, act: act() });
    } finally {
      await db.close();
    }
  };
  return {
    withDatabase,
    async withSecretBox(action) {
      const wanted = sharedSettings.pick({ MASTER_KEY: true, MASTER_KEY_PREVIOUS: true });
      const env = loadEnv(wanted, environment());
      const secretBox = createSecretBox(env.MASTER_KEY, env.MASTER_KEY_PREVIOUS);
      return withDatabase((context) => action({ ...context, secretBox }));
    },
    async withStorage(action, endpoint) {
      const wanted = sharedSettings.pick({ ...STORAGE_SETTINGS, ...UPLOAD_SETTINGS });
      const env = loadEnv(wanted, environment());
      const storage = openStorage({ ...env, S3_PUBLIC_ENDPOINT: endpoint });
      try {
        return await action(storage, env.S3_BUCKET);
      } finally {
        storage.close();
      }
    },
    databaseUrl() {
      return loadEnv(sharedSettings.pick({ DATABASE_URL: true }), environment()).DATABASE_URL;
    },
    async withQueues(action) {
      const { REDIS_URL } = loadEnv(sharedSettings.pick({ REDIS_URL: true }), environment());
      // Standard output belongs to what the command prints.
      const queues = createQueues({
        redisUrl: REDIS_URL,
        logger: createLogger({ service: 'admin', level: 'silent' }),
      });
      try {
        await connected(queues);
        return await action(queues);
      } finally {
        await queues.close();
      }
    },
    publicOrigin() {
      const { PUBLIC_BASE_URL } = loadEnv(sharedSettings.pick({ PUBLIC_BASE_URL: true }), environment());
      return new URL(PUBLIC_BASE_URL).origin;
    },
    usageSettings: () => loadEnv(usageSettings, environment()),
  };
}

/** A mistyped id must not look like a customer without anything to show. */
export async function requireCustomer(db: Db, customerId: string | undefined): Promise<void> {
  if (customerId !== undefined && !(await hasCustomer(db, customerId)))
    throw new Error(`there is no customer ${customerId}`);
}

const CONNECT_MS = 5_000;
const POLL_MS = 50;

/** Resolves when Redis answers. Rejects if it does not in time. */
async function connected(queues: Queues): Promise<void> {
  const endAtMs = performance.now() + CONNECT_MS;
  for (;;) {
    try {
      return await queues.ping();
    } catch (error) {
      if (performance.now() > endAtMs)
        throw new Error('Redis (REDIS_URL) cannot be reached', { cause: error });
      await pause(POLL_MS);
    }
  }
}
