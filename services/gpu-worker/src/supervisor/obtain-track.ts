import { InferenceFailure } from '../host/inference-error';
import { trackName, type TrackOrigin } from './feature-names';
import { fetchTrack } from './fetch-track';
import { type JobContext, type JobTools } from './job-context';
import { StorageFailed } from './job-errors';
import { makeTrack } from './make-track';
import { type ObtainedTrack, type TrackRequest } from './track-request';
import { beginFeature, type FeatureKey, findFeature } from '@lipsync/db';
import { type AssetRow } from '@lipsync/domain';
import { FACE_TRACK_VERSION, type FaceTrack } from '@lipsync/engines';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** How often to ask whether another job has made the track; an analysis takes seconds to minutes. */
const ASK_EVERY_MS = 500;

/**
 * The face track of a video: the preparation's, a stored one, or one made here and stored. Of the jobs that need it at
 * the same time one analyses and the others wait. Rejects with InferenceFailure, InferenceCrash or StorageFailed.
 */
export async function obtainTrack(
  tools: JobTools,
  context: JobContext,
  request: TrackRequest,
): Promise<ObtainedTrack> {
  const { db } = tools;
  const { claim, folder, signal } = context;
  const { wantedFrames, expiresAt, analyzer } = request;
  const path = join(folder, 'face-track.bin');
  const found = (track: FaceTrack, from: 'preparation' | 'cache'): ObtainedTrack => ({
    ...{ path, track, from, analysis: null, isKept: true },
  });

  const prepared = await preparedTrack(tools, request, path, signal);
  if (prepared) return found(prepared, 'preparation');
  const key = keyOf(request.video, { version: FACE_TRACK_VERSION, analyzerVersion: analyzer.version });
  for (;;) {
    signal.throwIfAborted();
    const begun = await beginFeature(db, key, claim, { wantedFrames, expiresAt });
    switch (begun.state) {
      case 'make':
        return makeTrack(tools, context, request, key, path);
      case 'impossible':
        throw new InferenceFailure(begun.errorCode, 'an earlier analysis of this video found that out');
      case 'ready': {
        const track = await fetchTrack(tools, key, begun.content.sha256, path, signal);
        if (track) return found(track, 'cache');
        break;
      }
      case 'wait':
        request.onProgress(0);
        await pause(ASK_EVERY_MS, undefined, { signal });
    }
  }
}

/**
 * The track of the render's preparation, whichever analyser made it: a preparation's result must not change. Null when
 * there is no preparation, or when its track has an outdated format, is damaged or is missing, which is logged.
 */
async function preparedTrack(
  tools: JobTools,
  request: TrackRequest,
  path: string,
  signal: AbortSignal,
): Promise<FaceTrack | null> {
  const { preparation, video, wantedFrames, expiresAt } = request;
  if (preparation === null) return null;
  const { id, version, analyzerVersion } = preparation;
  const readable = version === FACE_TRACK_VERSION && analyzerVersion !== null;
  if (readable) {
    const key = keyOf(video, { version, analyzerVersion });
    const content = await findFeature(tools.db, key, { wantedFrames, expiresAt });
    const track = content && (await fetchTrack(tools, key, content.sha256, path, signal));
    if (track) return track;
  }
  const why = readable ? 'its track is not kept any more' : 'its track is of a form that is not read';
  tools.logger.warn('a preparation cannot be used, the video is analysed anew', {
    ...{ preparation_id: id, version, analyzer_version: analyzerVersion, why },
  });
  return null;
}

function keyOf({ customerId, sha256 }: AssetRow, origin: TrackOrigin): FeatureKey {
  if (sha256 === null) throw new StorageFailed('the video has no stored bytes');
  return { customerId, videoSha256: sha256, name: trackName(origin) };
}
