import {
  chooseMouths,
  createCutMouth,
  type FaceTrack,
  LANDMARK_VALUES,
  type MouthExemplars,
  proposeMouths,
} from '@lipsync/engines';
import { outputFormat, type VideoStream } from '@lipsync/media';
import { type Job } from '../job';
import { openFrames, pictureFormat } from '../local-media';

/**
 * Pictures of a video's own mouth in each look of its face, in the source's resolution. Decodes the video once more, up
 * to the last of a few frames that the track proposes: the analysis sees every frame, but smaller, and only at its end is
 * it known which looks there are and which openings the mouth has. Only the first `shown` frames, those that the output
 * shows, are considered, so that a look's pictures do not depend on how much of the video was analyzed.
 */
export async function cutMouths(
  videoPath: string,
  video: VideoStream,
  track: FaceTrack,
  shown: number,
  job: Pick<Job, 'binaries' | 'signal'>,
): Promise<MouthExemplars[]> {
  const looks = track.looks.subarray(0, shown).reduce((last, look) => Math.max(last, look), 0) + 1;
  const ladders = Array.from({ length: looks }, (_, look) => proposeMouths(track, look, shown));
  const frames = [...new Set(ladders.flat(2))].sort((a, b) => a - b);
  const pictures = await picturesOf(frames, videoPath, video, track, job);
  return ladders.map((proposals) => chooseMouths(track, proposals, pictures));
}

/** Pictures of the mouth in these frames, in ascending order, by frame. */
async function picturesOf(
  frames: readonly number[],
  videoPath: string,
  video: VideoStream,
  track: FaceTrack,
  job: Pick<Job, 'binaries' | 'signal'>,
): Promise<Map<number, Uint8Array>> {
  const pictures = new Map<number, Uint8Array>();
  if (frames.length === 0) return pictures;
  const cut = createCutMouth(pictureFormat(video, outputFormat(video, job.binaries.output)));
  const reader = openFrames(videoPath, video, track, frames, job);
  try {
    const frame = new Uint8Array(reader.frameBytes);
    for (const index of frames) {
      await reader.readInto(frame);
      const landmarks = track.landmarks.subarray(index * LANDMARK_VALUES, (index + 1) * LANDMARK_VALUES);
      pictures.set(index, cut(frame, landmarks));
    }
    return pictures;
  } finally {
    await reader.close();
  }
}
