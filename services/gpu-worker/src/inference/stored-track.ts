import { decodeFaceTrack, type FaceTrack } from '@lipsync/engines';
import { frameSize, type VideoStream } from '@lipsync/media';
import { readFile } from 'node:fs/promises';

/** Reads a face track from a file. Rejects with FaceTrackError, also when it cannot belong to this video. */
export async function readTrack(path: string, video: VideoStream): Promise<FaceTrack> {
  const track = decodeFaceTrack(await readFile(path));
  const { width, height } = frameSize(video);
  if (track.width !== width || track.height !== height) throw new Error('the face track is of another video');
  return track;
}
