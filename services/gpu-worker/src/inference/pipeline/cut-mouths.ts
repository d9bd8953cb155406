import {
  chooseMouths,
  createCutMouth,
  LANDMARK_VALUES,
  type MouthExemplars,
  NO_MOUTHS,
  proposeMouths,
} from '@lipsync/engines';
import { openFrameReader, type VideoStream } from '@lipsync/media';
import { type FaceAnalysis } from '../analyzer/analyze-faces';
import { type Job, MEDIA_DEADLINE_MS } from '../job';
import { pictureFormat } from '../local-media';

/**
 * Pictures of the video's own mouth in the source's resolution: decodes the video once more, up to the last of a few
 * frames that the analysis proposes. The analysis itself sees every frame, but smaller, and knows only at its end which
 * openings the mouth has.
 */
export async function cutMouths(
  videoPath: string,
  video: VideoStream,
  { track, seen }: FaceAnalysis,
  { binaries, signal }: Pick<Job, 'binaries' | 'signal'>,
): Promise<MouthExemplars> {
  const proposals = proposeMouths(track, seen);
  const frames = [...new Set(proposals.flat())].sort((a, b) => a - b);
  if (frames.length === 0) return NO_MOUTHS;
  const cut = createCutMouth(pictureFormat(video));
  const reader = openFrameReader(binaries, videoPath, video, {
    layout: { format: 'yuv420p' },
    only: frames,
    deadlineMs: MEDIA_DEADLINE_MS,
    signal,
  });
  try {
    const frame = new Uint8Array(reader.frameBytes);
    const pictures = new Map<number, Uint8Array>();
    for (const index of frames) {
      if (!(await reader.readInto(frame))) break;
      const landmarks = track.landmarks.subarray(index * LANDMARK_VALUES, (index + 1) * LANDMARK_VALUES);
      pictures.set(index, cut(frame, landmarks));
    }
    return chooseMouths(track, proposals, pictures);
  } finally {
    await reader.close();
  }
}
