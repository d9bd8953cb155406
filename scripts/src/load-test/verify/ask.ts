import { type OperationId, type SuccessBody } from '@lipsync/contract';
import { type Clock } from '../arrivals/clock';
import { type CallOptions, type Exchange, type ServiceClient } from '../client/service-client';

const PAUSE_MS = 500;

/**
 * Asks until there is an answer that `isEnough`, or one that asking again cannot change, or `deadline` has passed.
 * Returns the last answer. For calls that may be repeated.
 */
export async function ask<Id extends OperationId>(
  { client, clock, deadline }: { client: ServiceClient; clock: Clock; deadline: number },
  operationId: Id,
  options: Omit<CallOptions, 'intendedAt'>,
  isEnough: (body: SuccessBody<Id>) => boolean = () => true,
): Promise<Exchange<SuccessBody<Id>>> {
  for (;;) {
    const exchange = await client.call(operationId, { ...options, intendedAt: clock.now() });
    const { body, outcome } = exchange;
    const isFinal = body === null ? outcome.retryable === false : isEnough(body);
    if (isFinal || clock.now() >= deadline) return exchange;
    await clock.until(clock.now() + (retryAfterMs(exchange.headers['retry-after']) ?? PAUSE_MS));
  }
}

/** Of seconds alone; the service never names a date. */
export function retryAfterMs(header: string | undefined): number | undefined {
  const seconds = Number(header ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
