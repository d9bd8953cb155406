import { join } from 'node:path';
import { sourceFrameIndex } from '@lipsync/domain';
import { makeNumberedVideo, type NumberedVideoOptions } from '@lipsync/testkit';
import { backwardFrames } from '../decode/frame-cursors';
import { openFrameReader } from '../decode/frame-reader';
import { openFrameSource } from '../decode/frame-source';
import { readSeekIndex } from '../decode/seek-index';
import { type Binaries } from '../ffmpeg/binaries';
import { type VideoStream } from '../probe/stream-info';
import { framesOf, videoOf } from './media-files';

const DEADLINE_MS = 120_000;

export interface FrameSample {
  readonly file: string;
  readonly video: VideoStream;
  /** Every working frame of one plain decode, which any other order has to reproduce byte for byte. */
  readonly frames: readonly Uint8Array[];
}

/** Makes numbered videos below `folder`, and decodes them; by the names of their options. */
export async function makeFrameSamples(
  binaries: Binaries,
  folder: string,
  sources: Readonly<Record<string, NumberedVideoOptions & { container: string }>>,
): Promise<(name: string) => FrameSample> {
  const samples = new Map<string, FrameSample>();
  for (const [name, { container, ...options }] of Object.entries(sources)) {
    const file = join(folder, `${samples.size}.${container}`);
    await makeNumberedVideo(file, options);
    samples.set(name, await decodeAll(binaries, file));
  }
  return (name) => {
    const found = samples.get(name);
    if (found === undefined) throw new Error(`no sample ${name}`);
    return found;
  };
}

export async function decodeAll(binaries: Binaries, file: string): Promise<FrameSample> {
  return { file, video: await videoOf(binaries, file), frames: await framesOf(binaries, file) };
}

/** Expects a source that is asked for these frames to show each as in the plain decode. */
export async function expectExact(
  binaries: Binaries,
  { file, video, frames }: FrameSample,
  indices: readonly number[],
): Promise<void> {
  const source = openFrameSource(binaries, file, video, indices, { deadlineMs: DEADLINE_MS });
  const target = new Uint8Array(source.frameBytes);
  const wrong: number[] = [];
  for (const [position, index] of indices.entries()) {
    expect(await source.readInto(target)).toBe(true);
    const wanted = frames[index];
    if (wanted === undefined || Buffer.compare(target, wanted) !== 0) wrong.push(position);
    // The caller may do what it likes with its copy, also before the same frame is shown again.
    target.fill(0);
  }
  expect(await source.readInto(target)).toBe(false);
  await source.close();
  expect(wrong).toEqual([]);
}

/** Expects every sync mode that shows frames again, or in another order, to show them as in the plain decode. */
export async function expectExactTimelines(binaries: Binaries, sample: FrameSample): Promise<void> {
  const videoFrames = sample.frames.length;
  const timelines = [
    { mode: 'bounce', outputFrames: videoFrames * 2 + 40 },
    { mode: 'loop', outputFrames: videoFrames * 2 + 7 },
    { mode: 'remap', outputFrames: videoFrames * 2 + 7 },
    { mode: 'remap', outputFrames: Math.floor(videoFrames / 3) },
    { mode: 'silence', outputFrames: videoFrames + 30 },
  ] as const;
  for (const { mode, outputFrames } of timelines) {
    const indices = Array.from({ length: outputFrames }, (_, i) =>
      sourceFrameIndex(mode, i, { videoFrames, outputFrames }),
    );
    await expectExact(binaries, sample, indices);
  }
}

/** Expects a reader that delivers a few frames only to deliver them as in the plain decode. */
export async function expectExactSingles(
  binaries: Binaries,
  { file, video, frames }: FrameSample,
): Promise<void> {
  const only = [0, 3, 4, 31, frames.length - 1];
  const layout = { format: 'yuv420p' } as const;
  const reader = openFrameReader(binaries, file, video, { layout, only, deadlineMs: DEADLINE_MS });
  const target = new Uint8Array(reader.frameBytes);
  for (const index of only) {
    expect(await reader.readInto(target)).toBe(true);
    expect(Buffer.compare(target, frames[index] ?? target.subarray(1))).toBe(0);
  }
  expect(await reader.readInto(target)).toBe(false);
  await reader.close();
}

/**
 * Expects every frame, last to first, as in the plain decode, out of chunks so short that most of them begin in the
 * middle of the video. Seeks land `astray` seconds after where they were meant to.
 */
export async function expectExactBackwards(
  binaries: Binaries,
  { file, video, frames }: FrameSample,
  astray = 0,
): Promise<void> {
  const locate = await readSeekIndex(binaries, file, video);
  const options = { layout: { format: 'yuv420p' }, deadlineMs: DEADLINE_MS } as const;
  const cursor = backwardFrames({
    lowest: 0,
    highest: frames.length - 1,
    bufferedFrames: 24,
    frameBytes: frames[0]?.length ?? 0,
    seekIndex: (first, last) => {
      const range = locate(first, last);
      const { seekSeconds } = range;
      return seekSeconds === undefined ? range : { ...range, seekSeconds: seekSeconds + astray };
    },
    openReader: (range) => openFrameReader(binaries, file, video, { ...options, range }),
  });
  const target = new Uint8Array(frames[0]?.length ?? 0);
  const wrong: number[] = [];
  for (const [index, wanted] of [...frames.entries()].reverse()) {
    await cursor.copyFrame(index, target, false);
    if (Buffer.compare(target, wanted) !== 0) wrong.push(index);
  }
  await cursor.close();
  expect(wrong).toEqual([]);
}
