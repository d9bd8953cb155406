import { type SyncMode } from '@lipsync/contract';
import { type LogFields } from '@lipsync/runtime';
import { type UsablePack } from '../host/find-packs';
import { type MeasuredRender } from './work-metrics';

/** The fields about the render in its job's log line. */
export function renderFacts(
  { engine, inputs, track, features, result, usage }: MeasuredRender,
  { pack, syncMode }: { readonly pack: Pick<UsablePack, 'version'>; readonly syncMode: SyncMode },
): LogFields {
  const { analysis } = track;
  return {
    engine,
    pack: pack.version,
    sync_mode: syncMode,
    video_input: inputs.video,
    audio_input: inputs.audio,
    face_track: track.from,
    features_known: features?.frames ?? 0,
    features_added: result.featuresAdded,
    detector_runs: (analysis?.detectorRuns ?? 0) + result.detectorRuns,
    codecs_replaced: [...(analysis?.replacedCodecs ?? []), ...result.replacedCodecs],
    width: result.width,
    height: result.height,
    usage,
    quality: result.quality,
    timings: result.timings,
  };
}
