import { stat } from 'node:fs/promises';
import { type Inference } from '@lipsync/gpu-worker';
import { type Clip, type ClipShape, makeClip } from '@lipsync/models';

/** A clip with an existing face track. */
export interface PreparedClip extends Clip {
  readonly shape: ClipShape;
  readonly megabitsPerSecond: number;
  readonly faceTrackPath: string;
}

export async function prepareClip(
  ffmpeg: string,
  folder: string,
  inference: Inference,
  shape: ClipShape,
): Promise<PreparedClip> {
  const clip = await makeClip(ffmpeg, folder, shape);
  const faceTrackPath = `${clip.videoFile}.track`;
  await inference.analyze({ videoPath: clip.videoFile, trackPath: faceTrackPath });
  const { size } = await stat(clip.videoFile);
  return { ...clip, shape, megabitsPerSecond: (size * 8) / 1e6 / shape.seconds, faceTrackPath };
}
