import { type Logger } from '@lipsync/runtime';
import { connectRedis, DEFAULT_PREFIX, workerOptions } from './redis-connection';

export interface CancelListener {
  close(): void;
}

/** The channel on which ids of cancelled jobs are published, as a JSON array. */
export function cancelChannel(prefix: string): string {
  return `${prefix}:cancel`;
}

/**
 * Calls `handler` for every job that is cancelled while Redis is reachable. A missed signal does no harm, because the
 * job's next heartbeat reports the cancellation. Subscribes again by itself after an outage.
 */
export function onCancel(
  options: { redisUrl: string; logger: Logger; prefix?: string },
  handler: (jobId: string) => void,
): CancelListener {
  const { redisUrl, logger, prefix = DEFAULT_PREFIX } = options;
  const redis = connectRedis(redisUrl, workerOptions(), { logger, name: 'cancel' });
  redis.on('message', (_channel: string, message: string) => {
    for (const jobId of parseJobIds(message)) handler(jobId);
  });
  redis.subscribe(cancelChannel(prefix)).catch((error: unknown) => {
    // Only happens when closed before the first connection; otherwise the client retries until it succeeds.
    logger.debug('cancel signals not subscribed', { error });
  });
  return { close: () => redis.disconnect() };
}

function parseJobIds(message: string): string[] {
  try {
    const value: unknown = JSON.parse(message);
    return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
