import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type MeasuredUsage } from '@lipsync/domain';
import { type Logger, type PriceList, priceOf } from '@lipsync/runtime';
import { type PodBill, type PodCost } from './pod-cost';

interface RunOnPod {
  readonly engine: Engine;
  readonly outputSeconds: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** How often the run was claimed, this time included. */
  readonly claims: number;
  /** Time inside graphs on a GPU; null when none was used. */
  readonly gpuInferenceMs: number | null;
}

export type PodMeter = ReturnType<typeof createPodMeter>;

/** Measures a run's use of this pod, as the fields of the contract's Usage. */
export function createPodMeter({
  costs,
  priceList,
  slots,
  gpuModels,
  logger,
}: {
  /** Tried in this order until one knows what the pod costs. */
  readonly costs: readonly PodCost[];
  /** Estimates what none of them knows, if it is in US dollars. */
  readonly priceList?: PriceList | undefined;
  /** Number of jobs that share the pod. */
  readonly slots: number;
  /** Names of the GPUs that graphs run on. */
  readonly gpuModels: readonly string[];
  readonly logger: Logger;
}) {
  async function billOf({ startedAt, endedAt }: RunOnPod): Promise<PodBill | null> {
    for (const cost of costs) {
      try {
        const bill = await cost(startedAt, endedAt);
        if (bill !== null) return bill;
      } catch (error) {
        logger.warn('the cost of a run could not be read', { error });
      }
    }
    return null;
  }

  return {
    /** Never rejects: a cost that cannot be determined is null, and the reason is logged. */
    async measure(run: RunOnPod) {
      const seconds = (run.endedAt.getTime() - run.startedAt.getTime()) / 1000;
      const { gpuInferenceMs } = run;
      const pod = podUsage({ bill: await billOf(run), seconds, slots, claims: run.claims });
      return {
        ...pod,
        estimated_compute_usd: pod.estimated_compute_usd ?? listPriceUsd(priceList, run),
        gpu_inference_seconds: gpuInferenceMs === null ? null : Math.round(gpuInferenceMs) / 1000,
        gpu_models: gpuInferenceMs === null ? [] : [...gpuModels],
      };
    },
  };
}

/** Null without a list in US dollars that has the engine. */
function listPriceUsd(list: PriceList | undefined, { engine, outputSeconds }: RunOnPod): number | null {
  const usd = list?.currency === 'USD' ? priceOf(list, engine, outputSeconds) : null;
  return usd === null ? null : rounded(usd, 6);
}

/** The usage fields for the cost of a run's pods. */
type PodUsage = Required<
  Pick<
    MeasuredUsage,
    'observed_pod_seconds' | 'billed_pod_seconds' | 'estimated_compute_usd' | 'estimate_coverage'
  >
>;

/** Providers' clocks and sampling may cut this share off a window without it counting as unobserved. */
const UNSEEN_PART = 0.05;

interface AttemptBill {
  /** The provider's bill for the attempt that completed; null if there is no provider or it had no data. */
  readonly bill: PodBill | null;
  /** Length of that attempt. */
  readonly seconds: number;
  /** Number of jobs that shared the pod, each of which is charged its share. */
  readonly slots: number;
  /**
   * How often the run was claimed, including the attempt that completed. Earlier attempts died with their measurements.
   */
  readonly claims: number;
}

/**
 * A run's share of its pod. Coverage follows from the inputs: `observed` when the provider saw all of the only attempt,
 * `partial` when earlier attempts or part of this one are missing, `unavailable` without a bill.
 */
export function podUsage({ bill, seconds, slots, claims }: AttemptBill): PodUsage {
  if (bill === null) {
    return {
      observed_pod_seconds: null,
      billed_pod_seconds: null,
      estimated_compute_usd: null,
      estimate_coverage: 'unavailable',
    };
  }
  const sawAll = bill.observedSeconds >= seconds * (1 - UNSEEN_PART);
  return {
    observed_pod_seconds: rounded(bill.observedSeconds / slots, 3),
    billed_pod_seconds: rounded(bill.billedSeconds / slots, 3),
    estimated_compute_usd: rounded(bill.usd / slots, 6),
    estimate_coverage: sawAll && claims === 1 ? 'observed' : 'partial',
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/**
 * The name of the NVIDIA GPU that graphs run on; empty without a driver. The runtime uses one device and does not say
 * which, so with GPUs of several models the name is unknown: empty as well. The driver publishes the names in the file
 * system, which, unlike its command-line tool, is present in every container with a GPU.
 */
export async function gpuModels(driverFolder = '/proc/driver/nvidia/gpus'): Promise<string[]> {
  const buses = await readdir(driverFolder).catch(() => []);
  const models = new Set<string>();
  for (const bus of buses) {
    const information = await readFile(join(driverFolder, bus, 'information'), 'utf8').catch(() => '');
    const model = /^Model:\s*(.+?)\s*$/m.exec(information)?.[1];
    if (model !== undefined) models.add(model);
  }
  return models.size === 1 ? [...models] : [];
}
