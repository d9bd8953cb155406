import {
  chooseMouths,
  createCutMouth,
  type FaceTrack,
  groupLooks,
  LANDMARK_VALUES,
  proposeMouths,
} from '@lipsync/engines';
import { openFrameReader, type VideoStream } from '@lipsync/media';
import { type FaceAnalysis } from '../analyzer/analyze-faces';
import { type Job, MEDIA_DEADLINE_MS } from '../job';
import { pictureFormat } from '../local-media';

/**
 * Pictures of the video's own mouth in each look of its face, in the source's resolution: decodes the video once more,
 * up to the last of a few frames that the analysis proposes for every look. The analysis itself sees every frame, but
 * smaller, and knows only at its end which looks there are and which openings the mouth has.
 */
export async function cutMouths(
  videoPath: string,
  video: VideoStream,
  { track, seen, colors }: FaceAnalysis,
  job: Pick<Job, 'binaries' | 'signal'>,
): Promise<Pick<FaceTrack, 'looks' | 'mouths'>> {
  const looks = groupLooks(track, seen, colors);
  const ladders = looks.seen.map((seenWith) => proposeMouths(track, seenWith));
  const frames = [...new Set(ladders.flat(2))].sort((a, b) => a - b);
  const pictures = await picturesOf(frames, videoPath, video, track, job);
  return { looks: looks.of, mouths: ladders.map((proposals) => chooseMouths(track, proposals, pictures)) };
}

/** Pictures of the mouth in these frames, in ascending order, by frame; only those up to where the video ends. */
async function picturesOf(
  frames: readonly number[],
  videoPath: string,
  video: VideoStream,
  track: FaceTrack,
  { binaries, signal }: Pick<Job, 'binaries' | 'signal'>,
): Promise<Map<number, Uint8Array>> {
  const pictures = new Map<number, Uint8Array>();
  if (frames.length === 0) return pictures;
  const cut = createCutMouth(pictureFormat(video));
  const reader = openFrameReader(binaries, videoPath, video, {
    layout: { format: 'yuv420p' },
    only: frames,
    deadlineMs: MEDIA_DEADLINE_MS,
    signal,
  });
  try {
    const frame = new Uint8Array(reader.frameBytes);
    for (const index of frames) {
      if (!(await reader.readInto(frame))) break;
      const landmarks = track.landmarks.subarray(index * LANDMARK_VALUES, (index + 1) * LANDMARK_VALUES);
      pictures.set(index, cut(frame, landmarks));
    }
    return pictures;
  } finally {
    await reader.close();
  }
}
