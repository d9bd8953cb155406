import { randomFillSync } from 'node:crypto';
import { type IdPrefix, newId } from '@lipsync/domain';
import { type Prisma, PrismaClient } from '@lipsync/prisma';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { type CustomerTurns } from '../customers/customer-transaction';
import { connectionUrl } from './connection-url';
import { demandCustomer } from './customer-scope';
import { createPostgresSocket } from './postgres-socket';

/** A transaction, or the connection pool where one statement is enough. */
export type Tx = Prisma.TransactionClient;

/** The database. Every function of this package takes it as its first argument. */
export interface Db {
  readonly prisma: PrismaClient;
  /** The connection pool below Prisma, only for `run`. */
  readonly pool: Pool;
  /** Base of the URLs inside webhook bodies, which are written in the transaction that ends a record. */
  readonly publicBaseUrl: string;
  /** See `customerTransaction`. */
  readonly turns: CustomerTurns;
  newId(prefix: IdPrefix): string;
  /** Resolves when the server answers a query. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface DbOptions {
  url: string;
  /** Maximum number of connections. */
  poolMax: number;
  /** PUBLIC_BASE_URL, without a trailing slash. */
  publicBaseUrl: string;
  /** Names the process in pg_stat_activity, unless the URL has an `application_name`. */
  applicationName?: string;
  /** Whether every query must name the customer that it is for: what requests of customers use (see `customer-scope`). */
  customerScope?: boolean;
  /** How long a connection may be silent before it is given up, in milliseconds; longer than any statement may take. */
  silenceMs?: number;
  /** Called for a lost connection. The pool replaces it by itself. */
  onConnectionError?: (error: Error) => void;
}

/** How long to wait for access to the database: for a connection, for a transaction, for a turn. */
export const DATABASE_WAIT_MS = 5_000;
export const STATEMENT_TIMEOUT_MS = 15_000;
/** The server ends every statement before this, so a longer silence means that the connection is dead. */
const SILENCE_MS = 20_000;
export const TRANSACTION_TIMEOUT_MS = 30_000;
const ID_RANDOM_BYTES = 10;
const IDS_PER_DRAW = 256;

/** Opens a pool lazily: the first query connects. */
export function createDb(options: DbOptions): Db {
  const report = options.onConnectionError ?? (() => undefined);
  const pool = new Pool({
    connectionString: connectionUrl(options.url),
    max: options.poolMax,
    connectionTimeoutMillis: DATABASE_WAIT_MS,
    fallback_application_name: options.applicationName,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    stream: () => createPostgresSocket(options.silenceMs ?? SILENCE_MS),
    // A process that hangs inside a transaction must not keep its row locks.
    idle_in_transaction_session_timeout: TRANSACTION_TIMEOUT_MS,
  });
  // Listens for the lifetime of each connection. Neither the pool nor Prisma listens in the moment when one hands it to
  // the other, and an unhandled error of a connection lost just then would end the process.
  pool.on('connect', (client) => client.on('error', report));
  // The pool also emits the loss of an idle connection. Without a listener that would end the process.
  pool.on('error', () => undefined);
  const adapter = new PrismaPg(pool, { disposeExternalPool: true });
  const client = new PrismaClient({
    adapter,
    // Other formats quote the arguments of the call, which are values of rows, and messages are logged.
    errorFormat: 'minimal',
    transactionOptions: { maxWait: DATABASE_WAIT_MS, timeout: TRANSACTION_TIMEOUT_MS },
  });
  const prisma = options.customerScope === true ? demandCustomer(client) : client;
  const nextRandom = createRandom();
  return {
    prisma,
    pool,
    publicBaseUrl: options.publicBaseUrl,
    turns: new Map(),
    newId: (prefix) => newId(prefix, Date.now(), nextRandom()),
    ping: async () => {
      await prisma.$queryRaw`SELECT 1`;
    },
    close: () => prisma.$disconnect(),
  };
}

/** Buffers random bytes for ids: requesting many at once costs hardly more than requesting few. */
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

/** Runs `work` in one READ COMMITTED transaction, and rolls back if it throws. */
export function transaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.prisma.$transaction(work, { isolationLevel: 'ReadCommitted' });
}
