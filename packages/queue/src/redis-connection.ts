import { type Logger } from '@lipsync/runtime';
import { Redis, type RedisOptions } from 'ioredis';

/** Namespace of everything that the service keeps in Redis. */
export const DEFAULT_PREFIX = 'lipsync';

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A connection that stays up while nothing answers (a partition) is only noticed by this; without it a worker never
 * fetches again. It must be longer than anybody waits for an answer on purpose (announcement-bell.ts).
 */
const SOCKET_TIMEOUT_MS = 10_000;

/** For commands that somebody waits for: they fail at once while Redis is away, and the caller does without. */
export function producerOptions() {
  return {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    retryStrategy: reconnectDelay,
    reconnectOnError: onReadOnly,
    // Commands of one turn of the event loop share a write and an answer.
    enableAutoPipelining: true,
  } satisfies RedisOptions;
}

/** For loops that wait for Redis however long it is away. */
export function workerOptions() {
  return {
    ...producerOptions(),
    maxRetriesPerRequest: null,
    enableOfflineQueue: true,
  } satisfies RedisOptions;
}

/** A client that reconnects for ever and logs when it loses and regains Redis. */
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

/** 100 ms to 2 s. */
function reconnectDelay(attempt: number): number {
  return Math.min(attempt * 100, 2_000);
}

/** After a failover the connection may lead to what is now a replica: reconnect and repeat the command. */
function onReadOnly(error: Error): 2 | false {
  return error.message.startsWith('READONLY') ? 2 : false;
}
