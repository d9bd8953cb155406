import { hostname } from 'node:os';
import { fixedPrice } from './fixed-price';
import { openCost } from './opencost';
import { type PodCost } from './pod-cost';

/** The settings that configure the sources of costs; see docs/configuration.md. */
export interface PodCostSettings {
  readonly POD_COST_URL?: string | undefined;
  readonly POD_NAME?: string | undefined;
  readonly POD_PRICE_USD_PER_HOUR?: number | undefined;
  readonly POD_BILLING_INCREMENT_SECONDS: number;
}

/** The configured sources of costs, best first: an endpoint, a price. Without either, usage stays null. */
export function openPodCosts(settings: PodCostSettings): PodCost[] {
  const { POD_COST_URL: url, POD_PRICE_USD_PER_HOUR: usdPerHour } = settings;
  const incrementSeconds = settings.POD_BILLING_INCREMENT_SECONDS;
  return [
    // Kubernetes sets a pod's host name to the pod's name.
    ...(url === undefined ? [] : [openCost({ url, pod: settings.POD_NAME ?? hostname() })]),
    ...(usdPerHour === undefined ? [] : [fixedPrice({ usdPerHour, incrementSeconds })]),
  ];
}
