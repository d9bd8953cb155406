import { type Engine } from '@lipsync/contract';
import { type MeasuredUsage } from '@lipsync/domain';
import { type LabelsOf, type Metrics } from '@lipsync/telemetry';
import {
  type AnalyzeResult,
  type RenderResult,
  type StageTimings,
  TIMED_STAGES,
  type TimedStage,
} from '../protocol/messages';

/** Whether an input came from the disk cache. */
type InputOrigin = 'hit' | 'fetched';

export interface TrackMeasures {
  readonly from: 'preparation' | 'cache' | 'analysis';
  /** The analysis made by this job; null when the track already existed. */
  readonly analysis: AnalyzeResult | null;
}

/** The measurements of a completed render. */
export interface MeasuredRender {
  readonly engine: Engine;
  readonly inputs: { readonly video: InputOrigin; readonly audio: InputOrigin };
  readonly track: TrackMeasures;
  /** Seconds of video whose features were known; null if the engine caches none. */
  readonly features: { readonly seconds: number } | null;
  readonly result: RenderResult;
  readonly usage: MeasuredUsage;
  readonly fetchMs: number;
  /** 0 where outputs are not signed. */
  readonly signMs: number;
  readonly uploadMs: number;
}

/** The measurements of a completed preparation. */
interface MeasuredPreparation {
  readonly input: InputOrigin;
  readonly track: TrackMeasures;
  /** The computation of features; null when there was nothing to do. */
  readonly features: AnalyzeResult | null;
  readonly fetchMs: number;
}

type Stage = LabelsOf<'stage_duration_seconds'>['stage'];
/** Milliseconds of the stages that are the supervisor's own, not measured by a task's clock. */
type OwnTimes = Readonly<Record<Exclude<Stage, TimedStage>, number>>;

export type WorkMetrics = ReturnType<typeof createWorkMetrics>;

/** Totals over the completed jobs of this process: speed, savings and quality. */
export function createWorkMetrics(metrics: Metrics) {
  const stages = metrics.histogram('stage_duration_seconds');
  const factors = metrics.histogram('render_realtime_factor');
  const outputSeconds = metrics.counter('output_seconds_total');
  const gpuSeconds = metrics.counter('gpu_seconds_total');
  const cache = metrics.counter('cache_requests_total');
  const correlations = metrics.histogram('render_sync_correlation');
  const lags = metrics.histogram('render_sync_lag_seconds');
  const seams = metrics.histogram('render_seam_levels');
  const skin = metrics.histogram('render_skin_psnr_db');
  const faceless = metrics.histogram('render_without_face_ratio');

  /** A stage that was skipped says nothing about how long it takes. */
  function addStages(
    engine: Engine | 'preparation',
    { fetch, sign, upload }: OwnTimes,
    tasks: readonly StageTimings[],
  ): void {
    const add = (stage: Stage, ms: number): void => {
      if (ms > 0) stages.observe({ engine, stage }, ms / 1000);
    };
    const spent = (stage: TimedStage): number =>
      tasks.reduce((sum, timings) => sum + timings[`${stage}Ms` as const], 0);
    add('fetch', fetch);
    for (const stage of TIMED_STAGES) add(stage, spent(stage));
    add('sign', sign);
    add('upload', upload);
  }
  function addInputs(inputs: readonly InputOrigin[], { from }: TrackMeasures): void {
    for (const input of inputs) cache.inc({ cache: 'inputs', result: input === 'hit' ? 'hit' : 'miss' });
    cache.inc({ cache: 'face_track', result: from === 'analysis' ? 'miss' : 'hit' });
  }
  function addQuality(engine: Engine, { quality }: RenderResult): void {
    const { syncCorrelation, syncLagSeconds, seamLevels, skinPsnrDb, facelessShare } = quality;
    correlations.observe({ engine }, syncCorrelation ?? NaN);
    lags.observe({ engine }, syncLagSeconds ?? NaN);
    seams.observe({ engine }, seamLevels ?? NaN);
    skin.observe({ engine }, skinPsnrDb ?? NaN);
    faceless.observe({ engine }, facelessShare);
  }

  return {
    rendered({ engine, inputs, track, features, result, usage, ...own }: MeasuredRender): void {
      const spent = [result.timings, ...(track.analysis ? [track.analysis.timings] : [])];
      addStages(engine, { fetch: own.fetchMs, sign: own.signMs, upload: own.uploadMs }, spent);
      addInputs([inputs.video, inputs.audio], track);
      if (features) cache.inc({ cache: 'features', result: features.seconds > 0 ? 'hit' : 'miss' });
      factors.observe({ engine }, (usage.processing_ms ?? NaN) / 1000 / result.outputSeconds);
      outputSeconds.inc({ engine }, result.outputSeconds);
      gpuSeconds.inc({ engine }, usage.gpu_inference_seconds ?? 0);
      addQuality(engine, result);
    },
    prepared({ input, track, features, fetchMs }: MeasuredPreparation): void {
      const engine = 'preparation';
      const tasks = [track.analysis, features].filter((task) => task !== null);
      const timings = tasks.map((task) => task.timings);
      addStages(engine, { fetch: fetchMs, sign: 0, upload: 0 }, timings);
      for (const { gpuInferenceMs } of tasks) gpuSeconds.inc({ engine }, (gpuInferenceMs ?? 0) / 1000);
      addInputs([input], track);
    },
  };
}
