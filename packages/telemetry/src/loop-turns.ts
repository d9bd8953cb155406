import { type LOOPS } from './label-values';
import { type Metrics } from './metrics';

export type TurnOutcome = 'completed' | 'failed';

/** Counts the turns of one loop, which pauses for `pauseMs` between them, and records when the last one ended. */
export function countTurns(
  metrics: Metrics,
  loop: (typeof LOOPS)[number],
  pauseMs: number,
): (outcome: TurnOutcome) => void {
  metrics.gauge('loop_pause_seconds').set({ loop }, pauseMs / 1000);
  const turns = metrics.counter('loop_turns_total');
  const counted = {
    completed: turns.at({ loop, outcome: 'completed' }),
    failed: turns.at({ loop, outcome: 'failed' }),
  };
  // `fromZero` of the catalogue would report the loops of other services as well.
  for (const turn of Object.values(counted)) turn.inc(0);
  const lastTurn = metrics.gauge('loop_last_turn_timestamp_seconds');
  return (outcome) => {
    counted[outcome].inc();
    lastTurn.set({ loop }, Date.now() / 1000);
  };
}
