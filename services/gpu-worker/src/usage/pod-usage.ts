import { type MeasuredUsage } from '@lipsync/domain';
import { type PodBill } from './pod-cost';

/** The usage fields for the cost of a run's pods. */
export type PodUsage = Required<
  Pick<
    MeasuredUsage,
    'observed_pod_seconds' | 'billed_pod_seconds' | 'estimated_compute_usd' | 'estimate_coverage'
  >
>;

/** Providers' clocks and sampling may cut this share off a window without it counting as unobserved. */
const UNSEEN_PART = 0.05;

export interface AttemptBill {
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
