import { type Consumer } from '@lipsync/queue';

/** Far above the five seconds that a waiting fetch takes. */
const SILENCE_MS = 60_000;

/**
 * Rejects when Redis answers and yet the consumer has got no answer for a minute: its blocking connection is wedged and
 * a restart helps. While Redis itself is away nothing is wrong with this process.
 */
export async function consumerFetches(
  consumer: Pick<Consumer, 'lastActivityAt'>,
  pingRedis: () => Promise<void>,
): Promise<void> {
  if (Date.now() - consumer.lastActivityAt() <= SILENCE_MS) return;
  const answers = await pingRedis().then(
    () => true,
    () => false,
  );
  if (answers) throw new Error('the consumer gets no answer although redis is there');
}
