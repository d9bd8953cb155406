import { setTimeout as delay } from 'node:timers/promises';
import { createOutageNotice, type Logger } from '@lipsync/runtime';
import { type TurnOutcome } from '@lipsync/telemetry';

export interface DispatchLoop {
  start(): void;
  /** Claims nothing more and resolves when every delivery in flight is settled. */
  close(): Promise<void>;
  /** Milliseconds since the loop last turned: a large value means that it is stuck. */
  sinceTurnMs(): number;
}

/**
 * Minimum time between two claims. A claim costs nearly the same for one delivery as for many, so due deliveries are
 * collected for a moment and share one.
 */
const GAP_MS = 5;

/**
 * Keeps up to `slots` deliveries in flight. Claims again at once after a claim that found some, and when a delivery has
 * ended (its receiver's cap has room again); otherwise less and less often, at the slowest every `pollMs`. A failing
 * claim is retried; the outage is logged once when it begins and once when it ends.
 */
export function createDispatchLoop<Delivery>(options: {
  slots: number;
  pollMs: number;
  /** Claims at most `limit` due deliveries. */
  claim: (limit: number) => Promise<Delivery[]>;
  /** Sends one delivery and settles it; must not throw. */
  deliver: (delivery: Delivery) => Promise<void>;
  /** Called after every claim. */
  onTurn: (outcome: TurnOutcome) => void;
  logger: Logger;
}): DispatchLoop {
  const { slots, pollMs, claim, deliver, onTurn, logger } = options;
  const inFlight = new Set<Promise<void>>();
  const outage = createOutageNotice({
    begins: (error) => logger.error('could not claim deliveries', { error }),
    ends: () => logger.info('deliveries can be claimed again'),
  });
  let stopping = false;
  /** A delivery has ended since the last claim. */
  let hasRoom = false;
  let wake = (): void => undefined;
  let lastTurnAtMs = performance.now();
  let running: Promise<void> = Promise.resolve();

  const launch = (delivery: Delivery): void => {
    const work = deliver(delivery).finally(() => {
      inFlight.delete(work);
      hasRoom = true;
      wake();
    });
    inFlight.add(work);
  };

  const takeDue = async (): Promise<number> => {
    const free = slots - inFlight.size;
    if (free <= 0) return 0;
    try {
      const deliveries = await claim(free);
      outage.worked();
      deliveries.forEach(launch);
      onTurn('completed');
      return deliveries.length;
    } catch (error) {
      outage.failed(error);
      onTurn('failed');
      return 0;
    }
  };

  const rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async (): Promise<void> => {
    let restMs = GAP_MS;
    while (!stopping) {
      lastTurnAtMs = performance.now();
      hasRoom = false;
      const taken = await takeDue();
      restMs = taken > 0 ? GAP_MS : Math.min(restMs * 2, pollMs);
      if (taken > 0 || hasRoom) await delay(GAP_MS);
      else if (!stopping) await rest(restMs);
    }
    await Promise.all(inFlight);
  };

  return {
    start: () => {
      running = run();
    },
    close: () => {
      stopping = true;
      wake();
      return running;
    },
    sinceTurnMs: () => performance.now() - lastTurnAtMs,
  };
}
