import { type AudioStream, inspect, MediaError, type VideoStream } from '@lipsync/media';
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
