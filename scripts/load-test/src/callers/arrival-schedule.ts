import { type Random } from '@lipsync/local-stack';

export type ArrivalPlan =
  /** Independent callers: a Poisson process. With a burst size, that many arrive together, at the same overall rate. */
  | {
      readonly kind: 'poisson';
      readonly ratePerSecond: number;
      readonly burstSize: number;
      readonly durationSeconds: number;
    }
  /** All at the beginning: a backlog to work off. */
  | { readonly kind: 'at-once'; readonly count: number };

/**
 * Arrival times of callers, in milliseconds from the beginning. They depend only on the plan and the random numbers:
 * nothing that the service does moves them. They are generated one by one, so a schedule of days takes no memory.
 */
export function* arrivalSchedule(plan: ArrivalPlan, random: Random): Generator<number, void, undefined> {
  if (plan.kind === 'at-once') {
    for (let i = 0; i < plan.count; i++) yield 0;
    return;
  }
  const { ratePerSecond, burstSize, durationSeconds } = plan;
  const meanGapMs = (1000 * burstSize) / ratePerSecond;
  // The gaps of a Poisson process are exponential; 1 - random() is never 0.
  let at = -Math.log(1 - random()) * meanGapMs;
  while (at < durationSeconds * 1000) {
    for (let i = 0; i < burstSize; i++) yield at;
    at += -Math.log(1 - random()) * meanGapMs;
  }
}

/** How many callers arrive together. */
export function batchOf(plan: ArrivalPlan): number {
  return plan.kind === 'poisson' ? plan.burstSize : plan.count;
}

/** How many arrivals per second a plan offers over `durationSeconds`. */
export function offeredRate(plan: ArrivalPlan, durationSeconds: number): number {
  return plan.kind === 'poisson' ? plan.ratePerSecond : plan.count / durationSeconds;
}
