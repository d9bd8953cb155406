import { type Consumer } from '@lipsync/queue';

/** Far above the five seconds that a waiting fetch takes. */
const SILENCE_MS = 60_000;

/**
 * A liveness check: fails when Redis answers and yet the consumer has not got an answer for a minute, that is when its
 * connection is wedged. While Redis is away nothing is wrong with this process.
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
