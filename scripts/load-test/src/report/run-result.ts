import { type LoadTestConfig } from '../config';
import { type Recorder } from '../measure/recorder';
import { type TrackedRender } from '../renders/tracked-render';
import { type LoadTarget } from '../target/target';
import { type CheckResult } from '../verify/check';
import { type CpuUsage } from './usage-meter';

/** A finished run, times in milliseconds of the run's clock. */
export interface RunResult {
  readonly config: LoadTestConfig;
  readonly target: LoadTarget;
  readonly recorder: Recorder;
  readonly renders: readonly TrackedRender[];
  readonly checks: readonly CheckResult[];
  readonly startedAt: Date;
  readonly startAt: number;
  readonly sliceMs: number;
  /** The middle of the measured arrivals, as planned. */
  readonly halfAt: number;
  readonly arrivalsEndAt: number;
  /** How far the service's clock is ahead. */
  readonly clockOffsetMs: number;
  readonly usage: CpuUsage;
  readonly inFlightPeak: number;
  readonly stoppedEarly: boolean;
}

/** Whether a render was accepted and had not ended, by the harness's clock. */
export function isOpenAt(
  run: Pick<RunResult, 'clockOffsetMs'>,
  { acceptedAt, end }: TrackedRender,
  at: number,
): boolean {
  return acceptedAt <= at && (end === null || endedAt(run, end.completedAt) > at);
}

/** A service time on the run's clock; a render without one counts as ended at once. */
export function endedAt(
  { clockOffsetMs }: Pick<RunResult, 'clockOffsetMs'>,
  completedAt: number | null,
): number {
  return completedAt === null ? 0 : completedAt - clockOffsetMs - performance.timeOrigin;
}
