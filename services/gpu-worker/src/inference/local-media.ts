import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { decodeFaceTrack, type FaceTrack, type Recording, recordingFrom } from '@lipsync/engines';
import { type PictureFormat } from '@lipsync/kernels';
import {
  type AudioStream,
  type FrameReader,
  frameSize,
  inspect,
  measureScan,
  MediaError,
  openAhead,
  openFrameSource,
  type OutputFormat,
  outputFormat,
  transferOf,
  type VideoStream,
} from '@lipsync/media';
import { type Job, MEDIA_DEADLINE_MS } from './job';

type Inspection = Pick<Job, 'binaries' | 'signal'>;

/**
 * The video stream of a file, inspected if it is not known; MediaError media_type_mismatch when there is none. What it is
 * flagged as is not believed: all of it is decoded.
 */
export async function videoOf(
  path: string,
  { binaries, signal }: Inspection,
  known?: VideoStream,
): Promise<VideoStream> {
  if (known !== undefined) return known;
  const video = (await inspect(binaries, path, signal)).video ?? missing('video');
  return {
    ...video,
    scan: await measureScan(binaries, path, video, { deadlineMs: MEDIA_DEADLINE_MS, signal }),
  };
}

/** The audio stream of a file, inspected if it is not known; MediaError media_type_mismatch when there is none. */
export async function audioOf(
  path: string,
  { binaries, signal }: Inspection,
  known?: AudioStream,
): Promise<AudioStream> {
  if (known !== undefined) return known;
  return (await inspect(binaries, path, signal)).audio ?? missing('audio');
}

function missing(stream: string): never {
  throw new MediaError('media_type_mismatch', `there is no ${stream} stream`);
}

/** Reads a face track from a file. Rejects with FaceTrackError, also when it cannot belong to this video. */
export async function readTrack(path: string, video: VideoStream): Promise<FaceTrack> {
  const track = decodeFaceTrack(await readFile(path));
  const { width, height } = frameSize(video);
  if (track.width !== width || track.height !== height) throw new Error('the face track is of another video');
  return track;
}

/** Starts decoding a video in the format of its output, before its frames are asked for with `openFrames`. */
export function openFramesAhead(
  path: string,
  video: VideoStream,
  { binaries, signal }: Inspection,
): FrameReader {
  const { format } = outputFormat(video, binaries.output).layout;
  return openAhead(binaries, path, video, { format, deadlineMs: MEDIA_DEADLINE_MS, signal });
}

/**
 * The frames of a video with these numbers in its track, in this order and in the format of the output. Bytes of a frame
 * are the same whoever reads it. `ahead` is a reader of `openFramesAhead`, which then belongs to the result.
 */
export function openFrames(
  path: string,
  video: VideoStream,
  { clock, held }: Pick<FaceTrack, 'clock' | 'held'>,
  numbers: readonly number[],
  { binaries, signal }: Inspection,
  ahead?: FrameReader,
): FrameReader {
  const { format } = outputFormat(video, binaries.output).layout;
  const limits = { deadlineMs: MEDIA_DEADLINE_MS, signal };
  return openFrameSource(binaries, path, video, numbers, { clock, held, format, ahead, ...limits });
}

/** By ffmpeg's names; every other named matrix is close to BT.709. */
const MATRICES: Readonly<Partial<Record<string, PictureFormat['matrix']>>> = {
  smpte170m: 'bt601',
  bt470bg: 'bt601',
  fcc: 'bt601',
  bt2020nc: 'bt2020',
  bt2020c: 'bt2020',
};
/** Players take an untagged picture of this height or more for high definition, that is BT.709. */
const HIGH_DEFINITION_HEIGHT = 720;

/** How the frames of a video in this format are to be understood by the pixel kernels. */
export function pictureFormat(
  video: VideoStream,
  { color, depth }: Pick<OutputFormat, 'color' | 'depth'>,
): PictureFormat {
  const { width, height } = frameSize(video);
  const { matrix, range } = color;
  const usual = height < HIGH_DEFINITION_HEIGHT ? 'bt601' : 'bt709';
  return {
    width,
    height,
    matrix: matrix === undefined ? usual : (MATRICES[matrix] ?? 'bt709'),
    range: range === 'pc' ? 'full' : 'limited',
    depth,
    transfer: transferOf({ color }),
  };
}

export type SpeechFile = ReturnType<typeof openSpeechFile>;

const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

/**
 * A file for speech, so that its samples take no memory: an engine reads half a minute at a time. It is empty, unnamed
 * and beside `path`, and disappears when it is closed, or with this process.
 */
export function openSpeechFile(path: string) {
  const name = `${path}.${randomUUID()}.speech`;
  const descriptor = openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  let closed = false;

  return {
    /** Descriptor of the open file, for writing the samples: mono float32 in the machine's byte order. */
    descriptor,
    /** The recording written so far; readable until the file is closed. */
    recording(): Recording {
      const length = Math.floor(fstatSync(descriptor).size / SAMPLE_BYTES);
      return recordingFrom(length, (from, target) => {
        // The descriptor of a closed file may already belong to another file.
        if (closed) throw new Error('the speech was closed');
        const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
        readWhole(descriptor, bytes, from * SAMPLE_BYTES);
      });
    },
    close(): void {
      if (!closed) closeSync(descriptor);
      closed = true;
    },
  };
}

function readWhole(descriptor: number, target: Uint8Array, position: number): void {
  for (let done = 0; done < target.length;) {
    const read = readSync(descriptor, target, done, target.length - done, position + done);
    if (read === 0) throw new Error('the speech has become shorter');
    done += read;
  }
}
