import { type Logger } from '@lipsync/runtime';
import { connectRedis, DEFAULT_PREFIX, workerOptions } from './redis';

/** The channel on which ids of cancelled jobs are published, as a JSON array. */
export function cancelChannel(prefix: string): string {
  return `${prefix}:cancel`;
}

/** The channel on which the name of a queue is published when a message was added to it. */
export function wakeChannel(prefix: string): string {
  return `${prefix}:wake`;
}

interface Listener {
  close(): void;
}

/** A connection that only listens would never notice that the other side is gone. */
const CHECK_MS = 10_000;

/**
 * Calls a handler for every job that is cancelled and every queue that gets a message while Redis is reachable. A
 * missed signal does no harm: the job's next heartbeat reports the cancellation, and workers look into their queues
 * every few seconds anyway. Subscribes again by itself after an outage.
 */
export function listen(
  options: { redisUrl: string; logger: Logger; prefix?: string | undefined },
  handlers: {
    onCancelled?: ((jobId: string) => void) | undefined;
    onEnqueued?: ((queue: string) => void) | undefined;
  },
): Listener {
  const { redisUrl, logger, prefix = DEFAULT_PREFIX } = options;
  const { onCancelled, onEnqueued } = handlers;
  const redis = connectRedis(redisUrl, workerOptions(), { logger, name: 'signals' });
  redis.on('message', (channel: string, message: string) => {
    if (channel === wakeChannel(prefix)) onEnqueued?.(message);
    else for (const jobId of parseJobIds(message)) onCancelled?.(jobId);
  });
  const channels = [
    ...(onCancelled ? [cancelChannel(prefix)] : []),
    ...(onEnqueued ? [wakeChannel(prefix)] : []),
  ];
  redis.subscribe(...channels).catch((error: unknown) => {
    // Only happens when closed before the first connection; otherwise the client retries until it succeeds.
    logger.debug('signals not subscribed', { error });
  });
  const check = setInterval(() => {
    // It fails only with its connection, which logs that and reconnects.
    if (redis.status === 'ready') redis.ping().catch(() => undefined);
  }, CHECK_MS);
  return {
    close: () => {
      clearInterval(check);
      redis.disconnect();
    },
  };
}

function parseJobIds(message: string): string[] {
  try {
    const value: unknown = JSON.parse(message);
    return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
