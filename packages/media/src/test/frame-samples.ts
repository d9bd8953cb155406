import { join } from 'node:path';
import { endOf, timelineOf } from '@lipsync/domain';
import { makeNumberedVideo, type NumberedVideoOptions } from '@lipsync/testkit';
import { backwardPictures } from '../decode/frame-cursors';
import { frameFormat } from '../decode/frame-layout';
import { openFrameSource, pictureTimes } from '../decode/frame-source';
import { openPictureReader } from '../decode/picture-reader';
import { readSeekIndex } from '../decode/seek-index';
import { type Binaries } from '../ffmpeg/binaries';
import { decodeAll, type DecodedVideo } from './media-files';

const DEADLINE_MS = 120_000;

/** Makes numbered videos below `folder`, and decodes them; by the names of their options. */
export async function makeFrameSamples(
  binaries: Binaries,
  folder: string,
  sources: Readonly<Record<string, NumberedVideoOptions & { container: string }>>,
): Promise<(name: string) => DecodedVideo> {
  const samples = new Map<string, DecodedVideo>();
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

/** Expects a source that is asked for these frames to show each as in the plain decode. */
export async function expectExact(
  binaries: Binaries,
  { path, stream, frames, clock, held }: DecodedVideo,
  indices: readonly number[],
): Promise<void> {
  const options = { clock, held, deadlineMs: DEADLINE_MS };
  const source = openFrameSource(binaries, path, stream, indices, options);
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
export async function expectExactTimelines(binaries: Binaries, sample: DecodedVideo): Promise<void> {
  const seconds = endOf(sample.clock);
  const timelines = [
    { mode: 'bounce', audioSeconds: seconds * 2 + 1.6 },
    { mode: 'loop', audioSeconds: seconds * 2 + 0.3 },
    { mode: 'remap', audioSeconds: seconds * 2 + 0.3 },
    { mode: 'remap', audioSeconds: seconds / 3 },
    { mode: 'silence', audioSeconds: seconds + 1.2 },
  ] as const;
  for (const { mode, audioSeconds } of timelines) {
    await expectExact(binaries, sample, timelineOf(mode, sample.clock, audioSeconds).sources);
  }
}

/** Expects a source that is asked for a few frames only to deliver them as in the plain decode. */
export async function expectExactSingles(binaries: Binaries, sample: DecodedVideo): Promise<void> {
  await expectExact(binaries, sample, [0, 3, 4, 4, 31, sample.frames.length - 1]);
}

/**
 * Expects every frame, last to first, as in the plain decode, out of chunks so short that most of them begin in the
 * middle of the video. Seeks land `astray` seconds after where they were meant to.
 */
export async function expectExactBackwards(
  binaries: Binaries,
  { path, stream, frames, clock, held }: DecodedVideo,
  astray = 0,
): Promise<void> {
  const locate = await readSeekIndex(binaries, path, stream, pictureTimes(clock, held));
  const options = { layout: { format: frameFormat(stream) }, deadlineMs: DEADLINE_MS } as const;
  const pictures = frames.filter((_, frame) => held[frame] === 0);
  const cursor = backwardPictures({
    lowest: 0,
    highest: pictures.length - 1,
    bufferedFrames: 24,
    frameBytes: frames[0]?.length ?? 0,
    seekIndex: (first, last) => {
      const { seek, ...range } = locate(first, last);
      return seek ? { ...range, seek: { ...seek, seconds: seek.seconds + astray } } : range;
    },
    openReader: (selection) => openPictureReader(binaries, path, stream, { ...options, selection }),
  });
  const target = new Uint8Array(frames[0]?.length ?? 0);
  const wrong: number[] = [];
  for (const [picture, wanted] of [...pictures.entries()].reverse()) {
    await cursor.copy(picture, target, false);
    if (Buffer.compare(target, wanted) !== 0) wrong.push(picture);
  }
  await cursor.close();
  expect(wrong).toEqual([]);
}
