import { conforms, type Engine, type Usage } from '@lipsync/contract';
import { type EngineStatus } from './states';

/** What a render measures of itself; a run's row keeps it as JSON. */
export type MeasuredUsage = Omit<Usage, 'engine' | 'status'>;

/** The only fields that are null, rather than absent, when nothing measured them. */
const UNMEASURED = {
  gpu_inference_seconds: null,
  billed_pod_seconds: null,
  observed_pod_seconds: null,
  estimated_compute_usd: null,
  gpu_models: [],
  estimate_coverage: 'unavailable',
} as const satisfies Usage;

/** The usage of an engine result: what was measured, the defaults for the rest, and whose it is. */
export function usageView(engine: Engine, status: EngineStatus, measured: unknown): Usage {
  return { ...UNMEASURED, gpu_models: [], ...(conforms('Usage', measured) ? measured : {}), engine, status };
}
