import { type MeasuredUsage } from '@lipsync/domain';
import { type Logger } from '@lipsync/runtime';
import { type PodBill, type PodCost } from './pod-cost';
import { type PodUsage, podUsage } from './pod-usage';

/** A run's use of this pod, as the fields of the contract's Usage. */
export type MachineUsage = PodUsage & Required<Pick<MeasuredUsage, 'gpu_inference_seconds' | 'gpu_models'>>;

export interface RunOnPod {
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** How often the run was claimed, this time included. */
  readonly claims: number;
  /** Time inside graphs on a GPU; null when none was used. */
  readonly gpuInferenceMs: number | null;
}

export interface PodMeter {
  /** Never rejects: a cost that cannot be determined is null, and the reason is logged. */
  measure(run: RunOnPod): Promise<MachineUsage>;
}

export interface PodMeterOptions {
  /** Tried in this order until one knows what the pod costs. */
  readonly costs: readonly PodCost[];
  /** Number of jobs that share the pod. */
  readonly slots: number;
  /** Names of the GPUs that graphs run on. */
  readonly gpuModels: readonly string[];
  readonly logger: Logger;
}

export function createPodMeter({ costs, slots, gpuModels, logger }: PodMeterOptions): PodMeter {
  async function billOf({ startedAt, endedAt }: RunOnPod): Promise<PodBill | null> {
    for (const cost of costs) {
      try {
        const bill = await cost.bill(startedAt, endedAt);
        if (bill !== null) return bill;
      } catch (error) {
        logger.warn('the cost of a run could not be read', { error });
      }
    }
    return null;
  }

  return {
    measure: async (run) => {
      const seconds = (run.endedAt.getTime() - run.startedAt.getTime()) / 1000;
      const { gpuInferenceMs } = run;
      return {
        ...podUsage({ bill: await billOf(run), seconds, slots, claims: run.claims }),
        gpu_inference_seconds: gpuInferenceMs === null ? null : Math.round(gpuInferenceMs) / 1000,
        gpu_models: gpuInferenceMs === null ? [] : [...gpuModels],
      };
    },
  };
}
