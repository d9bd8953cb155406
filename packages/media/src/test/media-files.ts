import { timelineOf } from '@lipsync/domain';
import { AUDIO_SAMPLE_RATE, readAudio } from '../audio-reader';
import { type ClipFrames } from '../decode/clip-clock';
import { openClipReader } from '../decode/clip-reader';
import { type FrameFormat, frameFormat } from '../decode/frame-layout';
import { openFrameSource } from '../decode/frame-source';
import { openEncoder } from '../encode/encoder';
import { outputFormat } from '../encode/output-format';
import { type Binaries } from '../ffmpeg/binaries';
import { isMediaError } from '../media-error';
import { inspect } from '../probe/inspect';
import { probe } from '../probe/probe';
import { type AudioStream, frameSize, type VideoStream } from '../probe/stream-info';

export type SyncMode = Parameters<typeof timelineOf>[0];

const DEADLINE_MS = 120_000;

/** The video that a file must have. */
export async function videoOf(binaries: Binaries, path: string): Promise<VideoStream> {
  const { video } = await inspect(binaries, path);
  if (video === undefined) throw new Error(`${path} has no video`);
  return video;
}

/** The sound that a file must have. */
export async function soundOf(binaries: Binaries, path: string): Promise<AudioStream> {
  const { audio } = await inspect(binaries, path);
  if (audio === undefined) throw new Error(`${path} has no sound`);
  return audio;
}

/** A video as a render sees it: its stream and its clock. */
export interface ClockedVideo extends ClipFrames {
  readonly path: string;
  readonly stream: VideoStream;
}

/** A video and every frame of one plain decode. */
export interface DecodedVideo extends ClockedVideo {
  readonly frames: readonly Uint8Array[];
}

/** Decodes a video that has no clock yet, in its own format unless another is given. */
export async function decodeAll(
  binaries: Binaries,
  path: string,
  { videoSeconds, format }: { videoSeconds?: number; format?: FrameFormat } = {},
): Promise<DecodedVideo> {
  const stream = await videoOf(binaries, path);
  const layout = { format: format ?? frameFormat(stream) };
  const reader = openClipReader(binaries, path, stream, { layout, videoSeconds, deadlineMs: DEADLINE_MS });
  const frames: Uint8Array[] = [];
  for (;;) {
    const frame = new Uint8Array(reader.frameBytes);
    if (!(await reader.readInto(frame))) break;
    frames.push(frame);
  }
  await reader.close();
  return { path, stream, frames, ...reader.framesUpTo(frames.length) };
}

/** Every frame of a video, from one plain decode. */
export async function framesOf(binaries: Binaries, path: string): Promise<readonly Uint8Array[]> {
  return (await decodeAll(binaries, path)).frames;
}

/** Copies every frame of a video into a new output, with a sound beside them. */
export async function passThrough(
  binaries: Binaries,
  source: string,
  output: string,
  sound: string,
): Promise<void> {
  const { stream: video, frames, clock } = await decodeAll(binaries, source);
  const stream = await soundOf(binaries, sound);
  const { depth, color, hdr } = outputFormat(video, 'source');
  const encoder = openEncoder(
    binaries,
    {
      outputPath: output,
      ...frameSize(video),
      ...{ depth, color, hdr, clock },
      pixelAspect: video.pixelAspect,
      audio: { path: sound, stream },
    },
    { deadlineMs: DEADLINE_MS },
  );
  await Promise.all(frames.map((frame) => encoder.write(frame)));
  await encoder.finish();
}

/** Makes a video's clock as the face analysis does, in a separate pass with small RGB pictures. */
export async function readClock(binaries: Binaries, path: string): Promise<ClockedVideo> {
  const { video: stream } = await probe(binaries, path, { mediaType: 'video', deadlineMs: DEADLINE_MS });
  if (stream === undefined) throw new Error(`${path} has no video`);
  const options = { videoSeconds: stream.durationSeconds, deadlineMs: DEADLINE_MS };
  const layout = { format: 'rgb24', width: 16, height: 16 } as const;
  const reader = openClipReader(binaries, path, stream, { layout, ...options });
  const frame = new Uint8Array(reader.frameBytes);
  let frames = 0;
  while (await reader.readInto(frame)) frames += 1;
  await reader.close();
  return { path, stream, ...reader.framesUpTo(frames) };
}

/** A sound as a render sees it. */
interface MeasuredAudio {
  readonly path: string;
  readonly stream: AudioStream;
  /** Length when decoded to the end. */
  readonly seconds: number;
}

/** Reads a sound as the engines do. */
export async function measureAudio(binaries: Binaries, path: string): Promise<MeasuredAudio> {
  const stream = await soundOf(binaries, path);
  const samples = await readAudio(binaries, path, { deadlineMs: DEADLINE_MS });
  return { path, stream, seconds: samples.length / AUDIO_SAMPLE_RATE };
}

/** Joins a video and a sound as a render does, with the sync mode's timeline but no engine. */
export async function renderTimeline(
  binaries: Binaries,
  { video, audio, outputPath }: { video: ClockedVideo; audio: MeasuredAudio; outputPath: string },
  mode: SyncMode,
): Promise<void> {
  const { stream, clock, held } = video;
  const timeline = timelineOf(mode, clock, audio.seconds);
  const { depth, layout, color, hdr } = outputFormat(stream, 'source');
  const options = { ...layout, clock, held, deadlineMs: DEADLINE_MS };
  const source = openFrameSource(binaries, video.path, stream, timeline.sources, options);
  const encoder = openEncoder(
    binaries,
    {
      outputPath,
      ...frameSize(stream),
      ...{ depth, color, hdr },
      clock: timeline.clock,
      pixelAspect: stream.pixelAspect,
      audio: { path: audio.path, stream: audio.stream, ...timeline.sound },
    },
    { deadlineMs: DEADLINE_MS },
  );
  const frame = new Uint8Array(source.frameBytes);
  try {
    while (await source.readInto(frame)) await encoder.write(frame);
    await encoder.finish();
  } finally {
    await source.close();
    await encoder.abort();
  }
}

/** What the probe says of a file: `accepted`, or the code of the error. Other failures are thrown. */
export async function probeVerdict(
  binaries: Binaries,
  file: string,
  mediaType: 'video' | 'audio',
): Promise<string> {
  try {
    await probe(binaries, file, { mediaType, deadlineMs: 60_000 });
    return 'accepted';
  } catch (error) {
    if (!isMediaError(error)) throw error;
    return error.code;
  }
}
