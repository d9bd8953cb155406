import { type Logger } from '@lipsync/runtime';
import { Redis, type RedisOptions } from 'ioredis';

/** Prefix of all keys of this service in Redis. */
export const DEFAULT_PREFIX = 'lipsync';

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Detects a connection that stays open without answers (a network partition). Without it a worker would never fetch
 * again.
 */
const SOCKET_TIMEOUT_MS = 10_000;

/**
 * For commands that a caller waits for: they fail at once while Redis is unavailable, and the caller goes on without.
 */
export function producerOptions() {
  return {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    retryStrategy: reconnectDelay,
    reconnectOnError: onReadOnly,
    // Commands of one turn of the event loop share one write and one response.
    enableAutoPipelining: true,
  } satisfies RedisOptions;
}

/** For loops that wait for Redis, however long it is unavailable. */
export function workerOptions() {
  return {
    ...producerOptions(),
    maxRetriesPerRequest: null,
    enableOfflineQueue: true,
  } satisfies RedisOptions;
}

/** A client that reconnects forever, and logs when it loses and regains Redis. */
export function connectRedis(
  url: string,
  options: ReturnType<typeof producerOptions | typeof workerOptions>,
  log: { logger: Logger; name: string },
): Redis {
  const client = new Redis(url, options);
  let isUp = true;
  client.on('error', (error: Error) => {
    if (isUp) log.logger.warn('redis is away', { connection: log.name, error });
    isUp = false;
  });
  client.on('ready', () => {
    if (!isUp) log.logger.info('redis is back', { connection: log.name });
    isUp = true;
  });
  return client;
}

/** From 100 ms to 2 s. */
function reconnectDelay(attempt: number): number {
  return Math.min(attempt * 100, 2_000);
}

/** After a failover the connection may lead to a replica: reconnect and repeat the command. */
function onReadOnly(error: Error): 2 | false {
  return error.message.startsWith('READONLY') ? 2 : false;
}

/** The promise did not settle in time. Its work may still finish. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * The deadline is counted in this many successive timers. If this process itself was suspended for longer than the
 * deadline, only one of them has elapsed, and the server still has the others to answer.
 */
const PARTS = 3;

/**
 * Settles like `work`, or rejects with a DeadlineError after `deadlineMs`. Redis clients have no timeout that covers
 * connecting, waiting and answering together, and a server that hangs would otherwise hang its callers.
 */
export async function withTimeout<T>(what: string, deadlineMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new DeadlineError(`${what}: no answer in ${deadlineMs} ms`));
    const count = (parts: number) => {
      timer = setTimeout(() => {
        if (parts > 1) count(parts - 1);
        // Timers run before sockets are read, so the answer may have arrived long ago.
        else turn = setImmediate(giveUp);
      }, deadlineMs / PARTS);
    };
    count(PARTS);
  });
  // Nobody handles the loser of the race any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
    clearImmediate(turn);
  }
}
