import { type AssetRow, type MeasuredUsage } from '@lipsync/domain';
import { type AnalyzeResult, type RenderResult } from '../protocol/messages';
import { type PodMeter } from '../usage/pod-meter';

export interface EndedRender {
  readonly video: AssetRow;
  /** The analysis made by this job; null when it used an existing track. */
  readonly analysis: AnalyzeResult | null;
  readonly result: RenderResult;
  readonly startedAt: Date;
  /** By a monotonic clock, because it is billed. */
  readonly processingMs: number;
  /** How often the job was claimed, this time included. */
  readonly claims: number;
}

/** What a render that ends now has used since its claim. Never rejects: unavailable measurements are null. */
export async function renderUsage(podMeter: PodMeter, ended: EndedRender): Promise<MeasuredUsage> {
  const { video, analysis, result, startedAt, processingMs, claims } = ended;
  const endedAt = new Date(startedAt.getTime() + processingMs);
  const gpuInferenceMs = gpuTime(analysis, result);
  return {
    input_video_seconds: video.durationSeconds,
    input_audio_seconds: result.inputAudioSeconds,
    output_seconds: result.outputSeconds,
    analyzed_frames: analysis?.frames ?? 0,
    rendered_frames: result.renderedFrames,
    ...(await podMeter.measure({ startedAt, endedAt, claims, gpuInferenceMs })),
    processing_ms: processingMs,
  };
}

/** Milliseconds on a GPU over all parts of the job; null when none was used. */
function gpuTime(...parts: ({ readonly gpuInferenceMs: number | null } | null)[]): number | null {
  const measured = parts.flatMap((part) => part?.gpuInferenceMs ?? []);
  return measured.length === 0 ? null : measured.reduce((sum, ms) => sum + ms, 0);
}
