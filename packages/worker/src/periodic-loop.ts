import { createOutageNotice, type Logger } from '@lipsync/runtime';
import { type TurnOutcome } from '@lipsync/telemetry';

/** Work that is done again and again, one turn at a time. */
export interface PeriodicLoop {
  start(): void;
  /** Asks for a turn now; asked during a turn, another one follows it at once. */
  wake(): void;
  /** No turn is under way once this has resolved, and none begins any more. */
  stop(): Promise<void>;
  /** For how long a turn has been under way, in milliseconds; 0 between turns, however long the pause is. For liveness. */
  busyMs(): number;
}

/**
 * Takes a turn every `everyMs`. A turn that fails is logged once, and once more when turns succeed again: an outage of
 * the database is two lines and not thousands.
 */
export function createPeriodicLoop(options: {
  name: string;
  everyMs: number;
  turn: () => Promise<void>;
  /** Told after every turn. */
  onTurn: (outcome: TurnOutcome) => void;
  logger: Logger;
}): PeriodicLoop {
  const { name, everyMs, turn, onTurn, logger } = options;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let wanted = false;
  let stopped = true;
  let turnBeganAtMs: number | undefined;
  const outage = createOutageNotice({
    begins: (error) => logger.warn('loop fails', { loop: name, error }),
    ends: () => logger.info('loop works again', { loop: name }),
  });

  async function takeTurn(): Promise<void> {
    turnBeganAtMs = performance.now();
    try {
      await turn();
      outage.worked();
      onTurn('completed');
    } catch (error) {
      outage.failed(error);
      onTurn('failed');
    }
    turnBeganAtMs = undefined;
  }

  function begin(): void {
    if (stopped) return;
    if (running !== undefined) {
      wanted = true;
      return;
    }
    clearTimeout(timer);
    wanted = false;
    running = takeTurn().finally(() => {
      running = undefined;
      if (stopped) return;
      if (wanted) begin();
      else timer = setTimeout(begin, everyMs);
    });
  }

  return {
    start: () => {
      stopped = false;
      begin();
    },
    wake: begin,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
    busyMs: () => (turnBeganAtMs === undefined ? 0 : performance.now() - turnBeganAtMs),
  };
}
