import { conforms, type Engine, type Usage } from '@lipsync/contract';
import { type EngineStatus } from './states';

/** What a render measures of itself. The row of an engine run keeps it as JSON. */
export type MeasuredUsage = Omit<Usage, 'engine' | 'status'>;

/** The only fields that are null, rather than absent, when not measured. */
const UNMEASURED = {
  gpu_inference_seconds: null,
  billed_pod_seconds: null,
  observed_pod_seconds: null,
  estimated_compute_usd: null,
  gpu_models: [],
  estimate_coverage: 'unavailable',
} as const satisfies Usage;

/** The usage of an engine result: its engine and status, the measurements, and defaults for the rest. */
export function usageView(engine: Engine, status: EngineStatus, measured: unknown): Usage {
  return { ...UNMEASURED, gpu_models: [], ...(conforms('Usage', measured) ? measured : {}), engine, status };
}
