import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sourceFrameIndex } from '@lipsync/domain';
import {
  eventually,
  ffmpeg,
  isAlive,
  makeNumberedVideo,
  type NumberedVideoOptions,
  readFrameNumber,
} from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { type VideoStream } from '../probe/stream-info';
import { framesOf, videoOf } from '../test/media-files';
import { writeTool } from '../test/tools';
import { backwardFrames } from './frame-cursors';
import { openFrameReader } from './frame-reader';
import { openFrameSource } from './frame-source';
import { readSeekIndex } from './seek-index';

const DEADLINE_MS = 60_000;

interface Sample {
  readonly file: string;
  readonly video: VideoStream;
  /** Every working frame of one plain decode, which any other order has to reproduce byte for byte. */
  readonly frames: readonly Uint8Array[];
}

const SOURCES: Record<string, NumberedVideoOptions & { container: string }> = {
  '25 fps with B-frames': { container: 'mp4', frames: 170 },
  '29.97 fps': { container: 'mp4', frames: 200, rate: '30000/1001' },
  // The only source with more working frames than are ever kept at once: 300.
  '60 fps': { container: 'mp4', frames: 720, rate: '60' },
  '15 fps in Matroska': { container: 'mkv', frames: 100, rate: '15' },
  'VP8 in WebM': {
    container: 'webm',
    frames: 130,
    rate: '24',
    encoder: ['-c:v', 'libvpx', '-g', '50', '-deadline', 'realtime', '-b:v', '1M'],
  },
  'variable rate with holes': {
    container: 'mp4',
    frames: 150,
    rate: '30',
    filters: 'setpts=(N+0.45*sin(N)+40*gt(N\\,70))/30/TB',
    encoder: '-c:v libx264 -preset veryfast -g 60 -bf 3 -video_track_timescale 90000'.split(' '),
  },
  'HEVC with open groups': {
    container: 'mp4',
    frames: 140,
    width: 192,
    height: 96,
    encoder:
      '-c:v libx265 -preset ultrafast -x265-params keyint=40:open-gop=1:bframes=4:log-level=none'.split(' '),
  },
};

describe('frames of a source in any order', () => {
  let folder: string;
  let binaries: Binaries;
  const samples = new Map<string, Sample>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'frame-source-'));
    binaries = await resolveBinaries(process.env);
    for (const [name, { container, ...options }] of Object.entries(SOURCES)) {
      const file = join(folder, `${samples.size}.${container}`);
      await makeNumberedVideo(file, options);
      samples.set(name, await decodeAll(file));
    }
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function decodeAll(file: string): Promise<Sample> {
    return { file, video: await videoOf(binaries, file), frames: await framesOf(binaries, file) };
  }

  function sample(name: string): Sample {
    const found = samples.get(name);
    if (found === undefined) throw new Error(`no sample ${name}`);
    return found;
  }

  async function expectExact({ file, video, frames }: Sample, indices: readonly number[]): Promise<void> {
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

  const order = (length: number, at: (i: number) => number): number[] =>
    Array.from({ length }, (_, i) => at(i));

  it.each(Object.keys(SOURCES))(
    'plays a bounce of %s with every frame equal to the plain decode',
    async (name) => {
      const { frames } = sample(name);
      const outputFrames = frames.length * 2 + 40;
      const timeline = { videoFrames: frames.length, outputFrames };
      await expectExact(
        sample(name),
        order(outputFrames, (i) => sourceFrameIndex('bounce', i, timeline)),
      );
    },
  );

  it.each(Object.keys(SOURCES))('plays loop and both directions of remap of %s exactly', async (name) => {
    const videoFrames = sample(name).frames.length;
    const modes = [
      { mode: 'loop', outputFrames: videoFrames * 2 + 7 },
      { mode: 'remap', outputFrames: videoFrames * 2 + 7 },
      { mode: 'remap', outputFrames: Math.floor(videoFrames / 3) },
      { mode: 'silence', outputFrames: videoFrames + 30 },
    ] as const;
    for (const { mode, outputFrames } of modes) {
      const indices = order(outputFrames, (i) => sourceFrameIndex(mode, i, { videoFrames, outputFrames }));
      await expectExact(sample(name), indices);
    }
  });

  it.each(Object.keys(SOURCES))('delivers single frames of %s as in the plain decode', async (name) => {
    const { file, video, frames } = sample(name);
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
  });

  it('shows each picture of a 25 fps source once and in order', () => {
    const { frames, video } = sample('25 fps with B-frames');
    expect(frames.map((frame) => readFrameNumber(frame, video.width))).toEqual(order(170, (i) => i));
  });

  it('shows at each working frame of a 29.97 fps source the picture that is on screen then', () => {
    const { frames, video } = sample('29.97 fps');
    const shown = frames.map((frame) => readFrameNumber(frame, video.width));
    // The newest picture whose time, to the nearest 1/25 s, is not later than the working frame.
    const expected = order(frames.length, (n) => {
      let picture = 0;
      while (picture + 1 < 200 && Math.round(((picture + 1) * 1001 * 25) / 30_000) <= n) picture += 1;
      return picture;
    });
    expect(shown).toEqual(expected);
  });

  it('keeps a picture on screen through a hole in a variable-rate source', () => {
    const { frames, video } = sample('variable rate with holes');
    const shown = frames.map((frame) => readFrameNumber(frame, video.width));
    expect(shown.filter((picture) => picture === 70).length).toBeGreaterThan(30);
    const lastAppears = (149 + 0.45 * Math.sin(149) + 40) / 30;
    expect(frames.length).toBe(Math.round(lastAppears * 25) + 1);
  });

  /** Every frame, last to first, out of chunks so short that most of them begin in the middle of the video. */
  async function expectExactInChunks({ file, video, frames }: Sample, astray = 0): Promise<void> {
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

  it.each(Object.keys(SOURCES))('plays %s backwards exactly from many keyframes', async (name) => {
    await expectExactInChunks(sample(name));
  });

  it('plays backwards exactly even where a seek lands after the keyframe that it was meant for', async () => {
    // Its keyframes are 1.5 s apart.
    await expectExactInChunks(sample('60 fps'), 1.5);
  });

  it('plays a cut made without re-encoding backwards exactly, hidden lead-in and all', async () => {
    const whole = join(folder, 'whole.mp4');
    const cut = join(folder, 'cut.mp4');
    await makeNumberedVideo(whole, { frames: 200 });
    await ffmpeg(['-ss', '3.1', '-i', whole, '-c', 'copy', cut]);
    const made = await decodeAll(cut);
    expect(made.frames.length).toBeGreaterThan(100);
    await expectExactInChunks(made);
  });

  it('serves a clip shorter than its buffers from memory, forwards, backwards and shuffled', async () => {
    const file = join(folder, 'short.mp4');
    await makeNumberedVideo(file, { frames: 5 });
    await expectExact(await decodeAll(file), [0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 4, 0, 2, 2, 1]);
  });

  it('says so when an index lies behind the end of the video', async () => {
    const { file, video, frames } = sample('25 fps with B-frames');
    const source = openFrameSource(binaries, file, video, [frames.length], { deadlineMs: DEADLINE_MS });
    const target = new Uint8Array(source.frameBytes);
    await expect(source.readInto(target)).rejects.toMatchObject({ code: 'media_corrupt' });
    await source.close();
  });

  it.each<[string, (frames: number) => number[]]>([
    ['the way there', (frames) => order(frames, (i) => i)],
    ['the way back', (frames) => order(frames, (i) => frames - 1 - i)],
    ['a restart that left frames unread', () => [0, 256, 0]],
  ])('lets go of its decoders when closed in the middle of %s', async (_, indicesOf) => {
    const { file, video, frames } = sample('60 fps');
    const { tools, decoders } = await listingDecoders();
    const indices = indicesOf(frames.length);
    const source = openFrameSource(tools, file, video, indices, { deadlineMs: DEADLINE_MS });
    const target = new Uint8Array(source.frameBytes);
    for (let n = 0; n < 3; n += 1) await source.readInto(target);
    await eventually(async () => expect((await decoders()).some(isAlive)).toBe(true));
    await source.close();
    expect((await decoders()).filter(isAlive)).toEqual([]);
    await expect(source.close()).resolves.toBeUndefined();
  });

  /** Tools whose decoders leave their process ids behind. */
  async function listingDecoders(): Promise<{ tools: Binaries; decoders: () => Promise<number[]> }> {
    const list = join(folder, 'decoders');
    await writeFile(list, '');
    const commands = `echo $$ >> '${list}'\nexec '${binaries.ffmpeg}' "$@"`;
    const wrapper = await writeTool(join(folder, 'ffmpeg'), commands);
    const decoders = async (): Promise<number[]> =>
      (await readFile(list, 'utf8')).split('\n').filter(Boolean).map(Number);
    return { tools: { ...binaries, ffmpeg: wrapper }, decoders };
  }
});
