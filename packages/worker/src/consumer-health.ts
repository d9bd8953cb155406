import { type Consumer } from '@lipsync/queue';
import { type Clock } from '@lipsync/runtime';

/** Far above the five seconds that a waiting fetch takes. */
const SILENCE_MS = 60_000;

/**
 * A liveness check: fails when Redis answers and yet a consumer has not got an answer for a minute, that is when its
 * blocking connection is wedged. While Redis is away nothing is wrong with this process.
 */
export function consumersFetch(
  consumers: readonly Pick<Consumer, 'lastActivityAt'>[],
  pingRedis: () => Promise<void>,
  clock: Clock,
): () => Promise<void> {
  return async () => {
    const silent = consumers.some((consumer) => clock.now() - consumer.lastActivityAt() > SILENCE_MS);
    if (!silent) return;
    const redisAnswers = await pingRedis().then(
      () => true,
      () => false,
    );
    if (redisAnswers) throw new Error('a consumer gets no answer although redis is there');
  };
}
