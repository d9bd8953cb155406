import { setTimeout as delay } from 'node:timers/promises';
import { createOutageNotice, type Logger } from '@lipsync/runtime';
import { type TurnOutcome } from '@lipsync/telemetry';

export interface DispatchLoop {
  start(): void;
  /** Takes nothing more and resolves when everything under way is settled. */
  close(): Promise<void>;
  /** Milliseconds since the loop last came round: a large value means that it is stuck. */
  sinceTurnMs(): number;
}

/** Between two looks at the least. One costs nearly the same whether it finds one delivery or many: those share it. */
const GAP_MS = 5;

/**
 * Keeps up to `slots` deliveries in flight. Looks for due ones at once after a claim that found some and when one under
 * way has ended (its receiver's cap has room again), else less and less often, at last every `pollMs`. A failing claim is
 * tried again; that claims fail is logged once, and once that they succeed again.
 */
export function createDispatchLoop<Delivery>(options: {
  slots: number;
  pollMs: number;
  /** Claims at most `limit` due deliveries. */
  claim: (limit: number) => Promise<Delivery[]>;
  /** Carries one through to its settlement; must not throw. */
  deliver: (delivery: Delivery) => Promise<void>;
  /** Told after every look for due ones. */
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
  /** Something ended since the last look. */
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
      await delay(GAP_MS);
      if (taken === 0 && !hasRoom && !stopping) await rest(restMs);
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
