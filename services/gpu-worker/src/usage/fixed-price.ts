import { type PodCost } from './pod-cost';

/**
 * A price set by the operator. The pod exists while this process does, so the clock measures its time.
 * `incrementSeconds`: the provider charges every begun increment (1 for per-second billing).
 */
export function fixedPrice(price: { usdPerHour: number; incrementSeconds: number }): PodCost {
  const { usdPerHour, incrementSeconds } = price;
  return {
    bill: async (from, to) => {
      const observedSeconds = (to.getTime() - from.getTime()) / 1000;
      const billedSeconds = Math.ceil(observedSeconds / incrementSeconds) * incrementSeconds;
      return { observedSeconds, billedSeconds, usd: (billedSeconds / 3600) * usdPerHour };
    },
  };
}
