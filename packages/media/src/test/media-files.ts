import { audioPlan, constantClock, outputFrameCount, sourceFrameIndex } from '@lipsync/domain';
import { AUDIO_SAMPLE_RATE, readAudio } from '../audio-reader';
import { openFrameReader } from '../decode/working-rate/frame-reader';
import { openFrameSource } from '../decode/working-rate/frame-source';
import { openEncoder } from '../encode/encoder';
import { type Binaries } from '../ffmpeg/binaries';
import { isMediaError } from '../media-error';
import { inspect } from '../probe/inspect';
import { probe } from '../probe/probe';
import { type AudioStream, frameColor, frameSize, type VideoStream } from '../probe/stream-info';

export type SyncMode = Parameters<typeof outputFrameCount>[0];

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

/** Every working frame of a video, from one plain decode. */
export async function framesOf(binaries: Binaries, path: string): Promise<Uint8Array[]> {
  const layout = { format: 'yuv420p' } as const;
  const video = await videoOf(binaries, path);
  const reader = openFrameReader(binaries, path, video, { layout, deadlineMs: DEADLINE_MS });
  const frames: Uint8Array[] = [];
  for (;;) {
    const frame = new Uint8Array(reader.frameBytes);
    if (!(await reader.readInto(frame))) break;
    frames.push(frame);
  }
  await reader.close();
  return frames;
}

/** Copies every working frame of a video into a new output, with a sound beside them. */
export async function passThrough(
  binaries: Binaries,
  source: string,
  output: string,
  sound: string,
): Promise<void> {
  const video = await videoOf(binaries, source);
  const stream = await soundOf(binaries, sound);
  const frames = await framesOf(binaries, source);
  const encoder = openEncoder(
    binaries,
    {
      outputPath: output,
      ...frameSize(video),
      depth: 8,
      clock: constantClock({ num: 25, den: 1 }, frames.length),
      color: frameColor(video),
      pixelAspect: video.pixelAspect,
      audio: { path: sound, stream },
    },
    { deadlineMs: DEADLINE_MS },
  );
  await Promise.all(frames.map((frame) => encoder.write(frame)));
  await encoder.finish();
}

/** A video as a render sees it: its stream and the number of its working frames. */
export interface CountedVideo {
  readonly path: string;
  readonly stream: VideoStream;
  readonly frames: number;
}

/** Counts the working frames as the face analysis does, in a separate pass with small RGB pictures. */
export async function countFrames(binaries: Binaries, path: string): Promise<CountedVideo> {
  const stream = await videoOf(binaries, path);
  const layout = { format: 'rgb24', width: 16, height: 16 } as const;
  const reader = openFrameReader(binaries, path, stream, { layout, deadlineMs: DEADLINE_MS });
  const frame = new Uint8Array(reader.frameBytes);
  let frames = 0;
  while (await reader.readInto(frame)) frames += 1;
  await reader.close();
  return { path, stream, frames };
}

/** A sound as a render sees it. */
export interface MeasuredAudio {
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
  { video, audio, outputPath }: { video: CountedVideo; audio: MeasuredAudio; outputPath: string },
  mode: SyncMode,
): Promise<void> {
  const lengths = { videoFrames: video.frames, audioSeconds: audio.seconds };
  const outputFrames = outputFrameCount(mode, lengths.videoFrames, lengths.audioSeconds);
  const indices = Array.from({ length: outputFrames }, (_, i) =>
    sourceFrameIndex(mode, i, { videoFrames: lengths.videoFrames, outputFrames }),
  );
  const source = openFrameSource(binaries, video.path, video.stream, indices, { deadlineMs: DEADLINE_MS });
  const encoder = openEncoder(
    binaries,
    {
      outputPath,
      ...frameSize(video.stream),
      depth: 8,
      clock: constantClock({ num: 25, den: 1 }, outputFrames),
      color: frameColor(video.stream),
      pixelAspect: video.stream.pixelAspect,
      audio: { path: audio.path, stream: audio.stream, ...audioPlan(mode, lengths) },
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
