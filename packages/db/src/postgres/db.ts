import { randomFillSync } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { type IdPrefix, newId } from '@lipsync/domain';
import { type Prisma, PrismaClient } from '@lipsync/prisma';
import { Pool } from 'pg';
import { createCustomerMutex, type RunExclusive } from './customer-mutex';
import { createPostgresSocket } from './postgres-socket';

/** A transaction, or the connection pool where one statement is enough. */
export type Tx = Prisma.TransactionClient;

/** The database, handed as the first argument to every function of this package. */
export interface Db {
  readonly prisma: PrismaClient;
  /** The connections below Prisma, for `run` alone. */
  readonly pool: Pool;
  /** Base of the addresses inside webhook bodies: they are written in the transaction that ends a record. */
  readonly publicBaseUrl: string;
  /** See `customerTransaction`. */
  readonly runExclusive: RunExclusive;
  newId(prefix: IdPrefix): string;
  /** Resolves when the server answers a query. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface DbOptions {
  url: string;
  /** Connections at most. */
  poolMax: number;
  /** PUBLIC_BASE_URL, without a slash at its end. */
  publicBaseUrl: string;
  /** Silence on a connection after which it is given up; longer than any statement may take. */
  silenceMs?: number;
  /** A lost connection; the pool replaces it by itself. */
  onConnectionError?: (error: Error) => void;
}

/** How long anybody waits to get to the database: for a connection, for a transaction, for a turn. */
export const DATABASE_WAIT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** The server ends every statement before this: a longer silence means that it cannot be heard. */
const SILENCE_MS = 20_000;
const TRANSACTION_TIMEOUT_MS = 30_000;
const ID_RANDOM_BYTES = 10;
const IDS_PER_DRAW = 256;

/** Opens a pool lazily: the first query connects. */
export function createDb(options: DbOptions): Db {
  const report = options.onConnectionError ?? (() => undefined);
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolMax,
    connectionTimeoutMillis: DATABASE_WAIT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    stream: () => createPostgresSocket(options.silenceMs ?? SILENCE_MS),
    // A process that hangs inside a transaction must not keep its row locks.
    idle_in_transaction_session_timeout: TRANSACTION_TIMEOUT_MS,
    // Prisma writes and reads timestamptz without an offset and means UTC.
    options: '-c timezone=UTC',
  });
  // Listens for as long as a connection lives: neither the pool nor Prisma does in the moment in which one hands it to
  // the other, and a connection that is lost just then would end the process.
  pool.on('connect', (client) => client.on('error', report));
  // Of a connection that is lost while it is idle the pool tells, too; unheard, that would end the process.
  pool.on('error', () => undefined);
  const adapter = new PrismaPg(pool, { disposeExternalPool: true });
  const prisma = new PrismaClient({
    adapter,
    // Other formats quote the arguments of the call, which are values of rows, and messages reach the log.
    errorFormat: 'minimal',
    transactionOptions: { maxWait: DATABASE_WAIT_MS, timeout: TRANSACTION_TIMEOUT_MS },
  });
  const nextRandom = createRandom();
  return {
    prisma,
    pool,
    publicBaseUrl: options.publicBaseUrl,
    runExclusive: createCustomerMutex(DATABASE_WAIT_MS),
    newId: (prefix) => newId(prefix, Date.now(), nextRandom()),
    ping: async () => {
      await prisma.$queryRaw`SELECT 1`;
    },
    close: () => prisma.$disconnect(),
  };
}

/** Random bytes for one id after the other: asking for many at once costs hardly more than asking for few. */
function createRandom(): () => Uint8Array {
  const pool = Buffer.alloc(ID_RANDOM_BYTES * IDS_PER_DRAW);
  let next = pool.length;
  return () => {
    if (next === pool.length) {
      randomFillSync(pool);
      next = 0;
    }
    next += ID_RANDOM_BYTES;
    return pool.subarray(next - ID_RANDOM_BYTES, next);
  };
}

/** Runs `work` in one READ COMMITTED transaction; whatever it throws rolls back. */
export function transaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.prisma.$transaction(work, { isolationLevel: 'ReadCommitted' });
}
