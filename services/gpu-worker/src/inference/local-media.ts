import { readFile } from 'node:fs/promises';
import { decodeFaceTrack, type FaceTrack, type PictureFormat } from '@lipsync/lipsync';
import {
  type AudioStream,
  frameColor,
  frameSize,
  inspect,
  MediaError,
  type VideoStream,
} from '@lipsync/media';
import { type Job } from './job';

type Tools = Pick<Job, 'binaries' | 'signal'>;

/** The video stream of a file; MediaError media_type_mismatch when there is none. */
export async function videoOf(path: string, { binaries, signal }: Tools): Promise<VideoStream> {
  const { video } = await inspect(binaries, path, signal);
  if (!video) throw new MediaError('media_type_mismatch', 'there is no video stream');
  return video;
}

/** The audio stream of a file; MediaError media_type_mismatch when there is none. */
export async function audioOf(path: string, { binaries, signal }: Tools): Promise<AudioStream> {
  const { audio } = await inspect(binaries, path, signal);
  if (!audio) throw new MediaError('media_type_mismatch', 'there is no audio stream');
  return audio;
}

/** Reads a face track from a file. Rejects with FaceTrackError, also when it cannot belong to this video. */
export async function readTrack(path: string, video: VideoStream): Promise<FaceTrack> {
  const track = decodeFaceTrack(await readFile(path));
  const { width, height } = frameSize(video);
  if (track.width !== width || track.height !== height) throw new Error('the face track is of another video');
  return track;
}

/** ffmpeg's names of the standard-definition matrices; every other named matrix is close to BT.709. */
const BT601_NAMES = new Set(['smpte170m', 'bt470bg', 'fcc']);
/** Players take an untagged picture of this height or more for high definition, that is BT.709. */
const HIGH_DEFINITION_HEIGHT = 720;

/** How the frames that a reader yields for this video are to be understood by the pixel kernels. */
export function pictureFormat(video: VideoStream): PictureFormat {
  const { width, height } = frameSize(video);
  const { matrix, range } = frameColor(video);
  const standard = matrix === undefined ? height < HIGH_DEFINITION_HEIGHT : BT601_NAMES.has(matrix);
  return { width, height, matrix: standard ? 'bt601' : 'bt709', range: range === 'pc' ? 'full' : 'limited' };
}
