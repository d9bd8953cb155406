import { DEFAULT_CUSTOMER_LIMITS } from '@lipsync/domain';
import { type AutoscalerSettings } from './autoscaler';

/** Where ingests wait; every other queue is one of GPU jobs. */
export const MEDIA_QUEUE = 'media';

/** One create_render, and the work that it makes. */
export interface RenderArrival {
  readonly atSeconds: number;
  readonly customer: string;
  /** Service times of the files that must be checked before anything is rendered; none when they are ready. */
  readonly ingestSeconds: readonly number[];
  /** One job per engine. */
  readonly jobs: readonly { readonly queue: string; readonly serviceSeconds: number }[];
}

/** Pods of one kind. */
export interface PoolSettings {
  readonly name: string;
  /** Asked in turn by every pod. */
  readonly queues: readonly string[];
  readonly slotsPerPod: number;
  /** A fixed number, or what an autoscaler makes of the backlog. */
  readonly pods: number | AutoscalerSettings;
}

export interface PolicySettings {
  /** Running GPU jobs per customer. */
  readonly runningJobsMax: number;
  /** Every round of admission looks at all queues; between rounds a queue is looked at when something happens in it. */
  readonly admissionEverySeconds: number;
  /** From the announcement of a job that a free slot hears of to its claim. */
  readonly pickupSeconds: number;
}

export const SERVICE_POLICY: PolicySettings = {
  runningJobsMax: DEFAULT_CUSTOMER_LIMITS.runningJobsMax,
  admissionEverySeconds: 0.5,
  pickupSeconds: 0.01,
};

export interface SimulationInput {
  readonly arrivals: readonly RenderArrival[];
  readonly pools: readonly PoolSettings[];
  readonly policy: PolicySettings;
}
