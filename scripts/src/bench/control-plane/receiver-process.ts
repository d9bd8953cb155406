import { startHttpsReceiver } from '@lipsync/testkit';
import { RECEIVER_HOSTS } from './receiver-hosts';

/** What it is asked: to wait for so many requests more than it was asked for before. */
export interface AwaitRequests {
  requests: number;
}

/** When each of them arrived, by the event that it told of. */
export interface Arrivals {
  atMs: Record<string, number>;
}

/** The receiver of a bench as a process of its own: it answers 200 to everybody. */
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
