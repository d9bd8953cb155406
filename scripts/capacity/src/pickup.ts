import { quantile } from '@lipsync/scripts';
import { type MeasuredRender } from './profile';

/**
 * How long a startable job and an idle slot took to find each other: the median over a run with one slot, in seconds.
 * Waiting for the slot itself does not count.
 */
export function pickupSeconds(renders: readonly MeasuredRender[]): number {
  const jobs = renders
    .map(({ at_seconds, end_to_end_seconds, service_seconds, wait_seconds }) => {
      const ended = at_seconds + end_to_end_seconds;
      const claimed = ended - service_seconds;
      return { ended, claimed, available: claimed - wait_seconds };
    })
    .sort((a, b) => a.claimed - b.claimed);
  return quantile(
    jobs.map(({ claimed, available }, index) =>
      Math.max(0, claimed - Math.max(available, jobs[index - 1]?.ended ?? available)),
    ),
    0.5,
  );
}
