import {
  conforms,
  type Engine,
  type EngineResult,
  ENGINES,
  type ErrorBody,
  type Output,
  type Preparation,
  type RecordResource,
  type Usage,
} from '@lipsync/contract';
import { storedErrorBody, storedErrorCode } from './errors';
import { renderError } from './progress';
import { publicUrl } from './resource-views';
import { type PreparationRow, type PreparationSummary, type RenderRow, type RunSummary } from './rows';
import { type EngineStatus, parseEnum, RECORD_STATES } from './states';

interface RecordViewOptions {
  /** The public base URL of the service; never taken from a request. */
  readonly baseUrl: string;
  /** The webhook event of this record, once there is one. */
  readonly webhookEventId?: string | null | undefined;
}

/** A freshly signed download address. */
export interface SignedOutput {
  readonly url: string;
  readonly expiresAt: Date;
}

interface RenderViewOptions extends RecordViewOptions {
  /** By engine run id. Completed runs that are missing here are shown without output. */
  readonly outputs?: ReadonlyMap<string, SignedOutput> | undefined;
}

function outputView(output: SignedOutput): Output {
  return { url: output.url, expires_at: output.expiresAt.toISOString() };
}

function engineResult(run: RunSummary, output: SignedOutput | undefined): EngineResult {
  const status = RECORD_STATES.parse(run.status);
  const engine = parseEnum(ENGINES, run.engine, 'an engine');
  return {
    engine,
    status,
    stage: run.stage,
    progress_percent: run.progressPercent,
    usage: usageView(engine, status, run.usage),
    ...(status === 'completed' && output ? { output: outputView(output) } : {}),
    ...(status === 'failed' ? { error: runError(run) } : {}),
  };
}

function runError(run: RunSummary): ErrorBody {
  return storedErrorBody(run, run.failedInput === null ? undefined : `/${run.failedInput}`);
}

/** The results of the analysis, or undefined before it is completed. */
function preparationView(row: PreparationSummary): Preparation | undefined {
  const { version, analyzerVersion, frames, fps, width, height, durationSeconds } = row;
  if (row.status !== 'completed') return undefined;
  return {
    ...(version === null ? {} : { version }),
    ...(analyzerVersion === null ? {} : { analyzer_version: analyzerVersion }),
    ...(frames === null ? {} : { frames }),
    ...(fps === null ? {} : { fps }),
    ...(width === null ? {} : { width }),
    ...(height === null ? {} : { height }),
    ...(durationSeconds === null ? {} : { duration_seconds: durationSeconds }),
  };
}

/** The fields that renders and preparations have in common. */
function recordView(
  row: RenderRow | PreparationRow,
  path: string,
  options: RecordViewOptions,
): RecordResource {
  return {
    id: row.id,
    status: RECORD_STATES.parse(row.status),
    stage: row.stage,
    progress_percent: row.progressPercent,
    video_asset_id: row.videoAssetId,
    ...(options.webhookEventId == null ? {} : { webhook_event_id: options.webhookEventId }),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    ...(row.completedAt === null ? {} : { completed_at: row.completedAt.toISOString() }),
    expires_at: row.expiresAt.toISOString(),
    status_url: publicUrl(options.baseUrl, `${path}/${row.id}`),
  };
}

/**
 * A render as the contract shows it.
 * @param runs its engine runs, in any order
 * @param preparation the preparation that it refers to, if any
 */
export function renderRecord(
  render: RenderRow,
  runs: readonly RunSummary[],
  preparation: PreparationSummary | null,
  options: RenderViewOptions,
): RecordResource {
  const ordered = [...runs].sort((a, b) => a.position - b.position);
  const engineErrors = ordered.filter(({ status }) => status === 'failed').map(runError);
  const prepared = preparation ? preparationView(preparation) : undefined;
  return {
    ...recordView(render, '/v1/renders', options),
    audio_asset_id: render.audioAssetId,
    sync_mode: render.syncMode,
    ...(render.preparationId === null ? {} : { preparation_id: render.preparationId }),
    ...(prepared ? { preparation: prepared } : {}),
    engines: ordered.map((run) => engineResult(run, options.outputs?.get(run.id))),
    ...(render.status === 'failed'
      ? { error: renderError(storedErrorCode(render.errorCode), engineErrors) }
      : {}),
  };
}

/** A preparation as the contract shows it: a record without engines and without audio. */
export function preparationRecord(row: PreparationRow, options: RecordViewOptions): RecordResource {
  const prepared = preparationView(row);
  return {
    ...recordView(row, '/v1/preparations', options),
    ...(prepared ? { preparation: prepared } : {}),
    ...(row.status === 'failed' ? { error: storedErrorBody(row) } : {}),
  };
}

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
function usageView(engine: Engine, status: EngineStatus, measured: unknown): Usage {
  return { ...UNMEASURED, gpu_models: [], ...(conforms('Usage', measured) ? measured : {}), engine, status };
}
