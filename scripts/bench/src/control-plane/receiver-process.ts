import { startHttpsReceiver } from '@lipsync/testkit';
import { RECEIVER_HOSTS } from './receiver-hosts';

/** The request: wait for this many requests beyond those awaited before. */
export interface AwaitRequests {
  requests: number;
}

/** Arrival time of each request, by its event. */
export interface Arrivals {
  atMs: Record<string, number>;
}

/** The benchmark's receiver as a process of its own: it answers every request with 200. */
async function main(): Promise<void> {
  const receiver = await startHttpsReceiver({ hostnames: RECEIVER_HOSTS });
  let told = 0;
  process.on('message', ({ requests }: AwaitRequests) => {
    const from = told;
    told += requests;
    const tell = (arrivals: Arrivals) => process.send?.(arrivals);
    void receiver
      .until((received) => received.length >= told, 120_000)
      .then(() => {
        const received = receiver.requests.slice(from, told);
        const atMs = received.map(({ headers, receivedAtMs }) => [headers['svc-event-id'], receivedAtMs]);
        tell({ atMs: Object.fromEntries(atMs) as Record<string, number> });
      });
  });
  process.once('SIGTERM', () => void receiver.close().then(() => process.exit()));
  process.send?.({ port: receiver.port, ca: receiver.ca });
}

void main();
