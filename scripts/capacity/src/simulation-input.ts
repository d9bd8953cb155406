import { DEFAULT_CUSTOMER_LIMITS } from '@lipsync/domain';
import { type AutoscalerSettings } from './autoscaler';

/** The queue of ingests; every other queue holds GPU jobs. */
export const MEDIA_QUEUE = 'media';

/** One create_render and the work that it causes. */
export interface RenderArrival {
  readonly atSeconds: number;
  readonly customer: string;
  /** Service times of the files to be ingested before rendering; empty when they are ready. */
  readonly ingestSeconds: readonly number[];
  /** One job per engine. */
  readonly jobs: readonly { readonly queue: string; readonly serviceSeconds: number }[];
}

/** Pods of one kind. */
export interface PoolSettings {
  readonly name: string;
  /** Polled in turn by every pod. */
  readonly queues: readonly string[];
  readonly slotsPerPod: number;
  /** A fixed number, or the settings of an autoscaler. */
  readonly pods: number | AutoscalerSettings;
}

export interface PolicySettings {
  /** Maximum running GPU jobs per customer. */
  readonly runningJobsMax: number;
  /** Interval of the admission rounds over all queues; in between, a queue is checked when something happens in it. */
  readonly admissionEverySeconds: number;
  /** From the announcement of a job, which a free slot hears of, to its claim. */
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
