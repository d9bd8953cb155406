import { type Claim } from '@lipsync/db';
import { type Metrics } from '@lipsync/telemetry';
import { type JobOutcome } from './job-outcome';

/** Metrics of the jobs of this process. */
export interface JobMetrics {
  began(claim: Claim): void;
  ended(claim: Claim, outcome: JobOutcome, seconds: number): void;
}

export function createJobMetrics(metrics: Metrics): JobMetrics {
  const waits = metrics.histogram('queue_wait_seconds');
  const jobs = metrics.counter('jobs_total');
  const durations = metrics.histogram('job_duration_seconds');
  const busy = metrics.gauge('slots_busy');
  busy.set({}, 0);
  return {
    began: ({ queue, waitedSeconds }) => {
      waits.observe({ queue }, waitedSeconds);
      busy.add({}, 1);
    },
    ended: ({ queue }, outcome, seconds) => {
      busy.add({}, -1);
      jobs.inc({ queue, outcome });
      durations.observe({ queue, outcome }, seconds);
    },
  };
}
