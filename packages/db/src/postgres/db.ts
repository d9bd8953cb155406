import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { type IdPrefix, newId } from '@lipsync/domain';
import { type Prisma, PrismaClient } from '@lipsync/prisma';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { demandCustomer } from './customer-scope';

/** A transaction, or the connection pool where one statement is enough. */
export type Tx = Prisma.TransactionClient;

/** The database. Every function of this package takes it as its first argument. */
export interface Db {
  readonly prisma: PrismaClient;
  /** The connection pool below Prisma, only for `run`. */
  readonly pool: Pool;
  /** Base of the URLs inside webhook bodies, which are written in the transaction that ends a record. */
  readonly publicBaseUrl: string;
  /** By customer: how many of its own transactions (see `customerTransaction`) run, and those that wait. */
  readonly turns: Map<string, { running: number; waiting: (() => void)[] }>;
  newId(prefix: IdPrefix): string;
  /** Resolves when the server answers a query. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface DbOptions {
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
  // Listens for the lifetime of each connection. Neither the pool nor Prisma listens while one hands it to the
  // other, and an unhandled error of a connection lost just then would end the process.
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
  return {
    prisma,
    pool,
    publicBaseUrl: options.publicBaseUrl,
    turns: new Map(),
    newId: (prefix) => newId(prefix, Date.now(), randomBytes(ID_RANDOM_BYTES)),
    ping: async () => {
      await prisma.$queryRaw`SELECT 1`;
    },
    close: () => prisma.$disconnect(),
  };
}

/**
 * Runs `work` in one transaction, and rolls back if it throws. A statement must see what was committed while the one
 * before it waited for a lock, hence READ COMMITTED. It is said each time: as a setting of the session, PgBouncer would
 * refuse the connection.
 */
export function transaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.prisma.$transaction(work, { isolationLevel: 'ReadCommitted' });
}

/**
 * The time on the database's clock, which alone decides about leases, availability and expiry. If it is read after
 * taking a row lock, the times written under that lock never run backwards.
 */
export async function databaseNow(tx: Tx): Promise<Date> {
  const [row] = await tx.$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`;
  if (row === undefined) throw new Error('the statement returned no row');
  return row.now;
}

/** `seconds` after `time`; negative for before. */
export function secondsAfter(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

/** Parameters that a URL could use to override the time limits that callers rely on. */
const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

const SETTINGS = '-c timezone=UTC -c jit=off';

/**
 * The URL with the session settings that this service needs, in addition to its own. `pg` lets parameters of a URL
 * override every setting made beside it, as a whole: `options` with a search path would lose the time zone.
 *
 * Prisma writes and reads timestamptz without an offset and means UTC. Compiling a statement (JIT) pays off in reports
 * that run for seconds; here it would only add its time to every statement whose cost is overestimated.
 */
export function connectionUrl(url: string): string {
  // `pg` takes a lone % for itself, but then escapes every escape in the URL a second time.
  const own = new URL(url.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  for (const limit of LIMITS) own.searchParams.delete(limit);
  const options = own.searchParams.getAll('options');
  own.searchParams.set('options', [...options, SETTINGS].join(' '));
  return own.href;
}

/**
 * A socket that closes a connection on which nothing has moved for `silenceMs`. After a network partition, connections
 * stay open without a peer. Without this, whatever waits there (a heartbeat, a request) waits for as long as the kernel
 * retransmits, a quarter of an hour or more, and the pool runs empty meanwhile.
 */
function createPostgresSocket(silenceMs: number): Socket {
  const socket = new Socket();
  socket.setTimeout(silenceMs, () => {
    // The shape of the system's own timeout, which Prisma's adapter and isDatabaseUnavailable recognize.
    const details = { code: 'ETIMEDOUT', errno: -110, syscall: 'read' };
    socket.destroy(Object.assign(new Error('the database does not answer'), details));
  });
  return socket;
}

/**
 * A statement of the hot path, sent in one round trip without Prisma. It is a named prepared statement, so that each
 * connection parses and plans it once.
 */
interface Statement {
  name: string;
  text: string;
}

/** Runs a statement on its own: it sees what is committed now, and its writes are committed when this resolves. */
export async function run<Row extends object>(
  db: Db,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await db.pool.query<Row>({ name, text, values: [...values] });
  return rows;
}
