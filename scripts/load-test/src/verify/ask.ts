import { type OperationId, type SuccessBody } from '@lipsync/contract';
import { type Clock } from '../arrivals/clock';
import { type CallOptions, type Exchange, type ServiceClient } from '../client/service-client';

const PAUSE_MS = 500;

/**
 * Repeats a call until a response is `isEnough`, or repeating cannot change it, or `deadline` has passed. Returns the
 * last response. Only for calls that may be repeated.
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

/** Supports only seconds; the service never sends a date. */
export function retryAfterMs(header: string | undefined): number | undefined {
  const seconds = Number(header ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
