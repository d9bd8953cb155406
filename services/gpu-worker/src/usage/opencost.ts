import { z } from '@lipsync/runtime';
import { type PodCost } from './pod-cost';

/** The part of an allocation that is read; OpenCost adds up CPU, memory, GPU and volumes in `totalCost`. */
const allocationSchema = z.object({ minutes: z.number().nonnegative(), totalCost: z.number().nonnegative() });
/** One set of allocations by pod name per step of the window; a step without data is null. */
const answerSchema = z.object({ data: z.array(z.record(z.string(), allocationSchema).nullable()) });

/** A cost endpoint that has not answered by then is not worth holding a finished render for. */
const TIMEOUT_MS = 2_000;

/**
 * Asks an OpenCost-compatible server (https://opencost.io/docs/integrations/api, `GET /allocation`) what it allocated
 * to this pod. It reads metrics that lag by a minute or two: what it does not know yet is missing from the bill.
 * Rejects when the server cannot be reached or answers with something else.
 */
export function openCost(server: { url: string; pod: string }): PodCost {
  return {
    bill: async (from, to) => {
      const url = new URL('allocation', server.url.endsWith('/') ? server.url : `${server.url}/`);
      url.search = new URLSearchParams({
        window: `${rfc3339(from)},${rfc3339(to)}`,
        aggregate: 'pod',
        filter: `pod:"${server.pod}"`,
        accumulate: 'true',
        resolution: '1m',
      }).toString();
      const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' });
      if (!response.ok) throw new Error(`the cost endpoint answered ${response.status}`);
      const { data } = answerSchema.parse(await response.json());
      const allocations = data.flatMap((set) => set?.[server.pod] ?? []);
      if (allocations.length === 0) return null;
      const seconds = 60 * allocations.reduce((sum, { minutes }) => sum + minutes, 0);
      const usd = allocations.reduce((sum, { totalCost }) => sum + totalCost, 0);
      const windowSeconds = (to.getTime() - from.getTime()) / 1000;
      return { observedSeconds: Math.min(seconds, windowSeconds), billedSeconds: seconds, usd };
    },
  };
}

/** To the second: the server's own resolution is coarser. */
function rfc3339(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
