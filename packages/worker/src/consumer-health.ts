import { type Consumer } from '@lipsync/queue';

/** Far longer than the five seconds of a blocking fetch. */
const SILENCE_MS = 60_000;

/**
 * A liveness check. Fails if Redis answers a ping but the consumer has had no answer for a minute, which means that its
 * connection is wedged. While Redis is unavailable, nothing is wrong with this process.
 */
export function consumerFetches(
  consumer: Pick<Consumer, 'silentMs'>,
  pingRedis: () => Promise<void>,
): () => Promise<void> {
  return async () => {
    if (consumer.silentMs() <= SILENCE_MS) return;
    const redisAnswers = await pingRedis().then(
      () => true,
      () => false,
    );
    if (redisAnswers) throw new Error('the consumer gets no answer although redis is there');
  };
}
