import { createOutageNotice, type Logger } from '@lipsync/runtime';
import { type TurnOutcome } from '@lipsync/telemetry';

/** Work that is repeated, one turn at a time. */
export interface PeriodicLoop {
  start(): void;
  /** Starts a turn now, or, during a turn, right after it. */
  wake(): void;
  /** Stops the loop. Once this has resolved, no turn is under way and none begins any more. */
  stop(): Promise<void>;
  /**
   * How long the current turn has been under way, in milliseconds; 0 between turns, however long the pause. For
   * liveness.
   */
  busyMs(): number;
}

/**
 * Runs a turn every `everyMs`. A failing turn is logged once, and once more when turns succeed again, so that an outage
 * of the database causes two lines and not thousands.
 */
export function createPeriodicLoop(options: {
  name: string;
  everyMs: number;
  turn: () => Promise<void>;
  /** Called after every turn. */
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

/** Far longer than any turn takes, including the timeouts of the database and the store. */
const HANGS_AFTER_MS = 120_000;

/**
 * A liveness check. Fails if a turn of a loop has been under way for two minutes. The pause between turns does not
 * matter.
 */
export function noTurnHangs(loops: readonly Pick<PeriodicLoop, 'busyMs'>[]): () => Promise<void> {
  return async () => {
    if (loops.some((loop) => loop.busyMs() > HANGS_AFTER_MS)) throw new Error('a loop is stuck');
  };
}
