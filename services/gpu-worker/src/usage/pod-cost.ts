import { hostname } from 'node:os';
import { z } from '@lipsync/runtime';

/** A provider's bill for this pod between two moments. */
export interface PodBill {
  /** Seconds within the window in which the provider saw the pod run. */
  readonly observedSeconds: number;
  /** Seconds that are charged, e.g. rounded up to a billing increment. */
  readonly billedSeconds: number;
  /** The charge in US dollars. */
  readonly usd: number;
}

/**
 * A source of this pod's cost: resolves to the bill for a period of its life, or null while the provider has no data
 * about it. May reject.
 */
export type PodCost = (from: Date, to: Date) => Promise<PodBill | null>;

/** The settings that configure the sources of costs; see docs/configuration.md. */
interface PodCostSettings {
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

/**
 * A price set by the operator. The pod exists while this process does, so the clock measures its time.
 * `incrementSeconds`: the provider charges every begun increment (1 for per-second billing).
 */
export function fixedPrice(price: { usdPerHour: number; incrementSeconds: number }): PodCost {
  const { usdPerHour, incrementSeconds } = price;
  return async (from, to) => {
    const observedSeconds = (to.getTime() - from.getTime()) / 1000;
    const billedSeconds = Math.ceil(observedSeconds / incrementSeconds) * incrementSeconds;
    return { observedSeconds, billedSeconds, usd: (billedSeconds / 3600) * usdPerHour };
  };
}

/** The fields of an allocation that are used; OpenCost adds up CPU, memory, GPU and volumes in `totalCost`. */
const allocationSchema = z.object({
  /** The last moment of the allocation that the server knows of. */
  end: z.iso.datetime({ offset: true }),
  minutes: z.number().nonnegative(),
  totalCost: z.number().nonnegative(),
});
/** One set of allocations by pod name per step of the window; a step without data is null. */
const answerSchema = z.object({ data: z.array(z.record(z.string(), allocationSchema).nullable()) });

/**
 * The server's metrics lag by a minute or two, which can be as long as a run. Its window therefore also covers the time
 * before the run, and the pod's cost per second over the whole window is applied to the run.
 */
const LOOK_BACK_MS = 3_600_000;

/** A cost endpoint slower than this is not worth delaying a finished render for. */
const TIMEOUT_MS = 2_000;

/**
 * Asks an OpenCost-compatible server (https://opencost.io/docs/integrations/api, `GET /allocation`) what it allocated
 * to this pod. The part of a run that it has not seen yet is charged at the same rate, and excluded from the observed
 * seconds. Rejects when the server cannot be reached or gives an unexpected answer.
 */
export function openCost(server: { url: string; pod: string }): PodCost {
  return async (from, to) => {
    const url = new URL('allocation', server.url.endsWith('/') ? server.url : `${server.url}/`);
    url.search = new URLSearchParams({
      window: `${rfc3339(new Date(from.getTime() - LOOK_BACK_MS))},${rfc3339(to)}`,
      aggregate: 'pod',
      filter: `pod:"${server.pod}"`,
      accumulate: 'true',
      resolution: '1m',
    }).toString();
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
    if (!response.ok) throw new Error(`the cost endpoint answered ${response.status}`);
    const { data } = answerSchema.parse(await response.json());
    const allocations = data.flatMap((set) => set?.[server.pod] ?? []);
    const known = 60 * allocations.reduce((sum, { minutes }) => sum + minutes, 0);
    if (known === 0) return null;
    const usd = allocations.reduce((sum, { totalCost }) => sum + totalCost, 0);
    const knownTo = Math.max(...allocations.map(({ end }) => Date.parse(end)));
    const seconds = (to.getTime() - from.getTime()) / 1000;
    const seen = (knownTo - from.getTime()) / 1000;
    return {
      observedSeconds: Math.min(Math.max(seen, 0), seconds),
      billedSeconds: seconds,
      usd: (usd / known) * seconds,
    };
  };
}

/** Truncated to seconds: the server's own resolution is coarser. */
function rfc3339(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
