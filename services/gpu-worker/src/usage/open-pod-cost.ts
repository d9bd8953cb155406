import { hostname } from 'node:os';
import { fixedPrice } from './fixed-price';
import { openCost } from './opencost';
import { type PodCost } from './pod-cost';

/** The settings that say where costs come from; see docs/configuration.md. */
export interface PodCostSettings {
  readonly POD_COST_URL?: string | undefined;
  readonly POD_NAME?: string | undefined;
  readonly POD_PRICE_USD_PER_HOUR?: number | undefined;
  readonly POD_BILLING_INCREMENT_SECONDS: number;
}

/** The configured source of costs: an endpoint before a price; null when there is neither, and usage stays null. */
export function openPodCost(settings: PodCostSettings): PodCost | null {
  const { POD_COST_URL: url, POD_PRICE_USD_PER_HOUR: usdPerHour } = settings;
  // Kubernetes gives a pod its own name as host name.
  if (url !== undefined) return openCost({ url, pod: settings.POD_NAME ?? hostname() });
  if (usdPerHour === undefined) return null;
  return fixedPrice({ usdPerHour, incrementSeconds: settings.POD_BILLING_INCREMENT_SECONDS });
}
