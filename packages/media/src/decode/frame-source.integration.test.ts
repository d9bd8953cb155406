import { readFile, writeFile } from 'node:fs/promises';
import { constantClock } from '@lipsync/domain';
import {
  eventually,
  ffmpeg,
  isAlive,
  makeNumberedVideo,
  type NumberedVideoOptions,
  testFolder,
} from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import {
  expectExact,
  expectExactBackwards,
  expectExactSingles,
  expectExactTimelines,
  makeFrameSamples,
} from '../test/frame-samples';
import { decodeAll, type DecodedVideo } from '../test/media-files';
import { writeTool } from '../test/tools';
import { openAhead, openFrameSource } from './frame-source';

const DEADLINE_MS = 60_000;

/** frame-source.long has other rates, codecs and containers. */
const SOURCES: Record<string, NumberedVideoOptions & { container: string }> = {
  // More pictures than are ever kept at once.
  '30 fps': { container: 'mp4', frames: 370, rate: '30' },
  'variable rate with holes': {
    container: 'mp4',
    frames: 150,
    rate: '30',
    filters: 'settb=1/90000,setpts=(N+0.45*sin(N)+40*gt(N\\,70))/30/TB',
    encoder:
      '-c:v libx264 -preset veryfast -g 60 -bf 3 -enc_time_base 1:90000 -video_track_timescale 90000'.split(
        ' ',
      ),
  },
};

describe('frames of a source in any order', () => {
  const at = testFolder();
  let binaries: Binaries;
  let sample: (name: string) => DecodedVideo;

  beforeAll(async () => {
    binaries = await resolveBinaries(process.env);
    sample = await makeFrameSamples(binaries, at(), SOURCES);
  });

  const order = (length: number, at: (i: number) => number): number[] =>
    Array.from({ length }, (_, i) => at(i));

  it.each(Object.keys(SOURCES))('are those of the plain decode on every timeline: %s', (name) =>
    expectExactTimelines(binaries, sample(name)),
  );

  it.each(Object.keys(SOURCES))('are those of the plain decode when few are asked for: %s', (name) =>
    expectExactSingles(binaries, sample(name)),
  );

  it('are those of the plain decode backwards from many keyframes', () =>
    expectExactBackwards(binaries, sample('variable rate with holes')));

  it('plays backwards exactly even where a seek lands after the keyframe that it was meant for', async () => {
    // Its keyframes are 3 s apart.
    await expectExactBackwards(binaries, sample('30 fps'), 3);
  });

  it('plays a cut made without re-encoding backwards exactly, hidden lead-in and all', async () => {
    const whole = at('whole.mp4');
    const cut = at('cut.mp4');
    await makeNumberedVideo(whole, { frames: 200 });
    await ffmpeg(['-ss', '3.1', '-i', whole, '-c', 'copy', cut]);
    const made = await decodeAll(binaries, cut);
    expect(made.frames.length).toBeGreaterThan(100);
    await expectExactBackwards(binaries, made);
  });

  it('serves a clip shorter than its buffers from memory, forwards, backwards and shuffled', async () => {
    const file = at('short.mp4');
    await makeNumberedVideo(file, { frames: 5 });
    await expectExact(
      binaries,
      await decodeAll(binaries, file),
      [0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 4, 0, 2, 2, 1],
    );
  });

  it('says so when the video has fewer pictures than its clock', async () => {
    const { path: file, stream: video } = sample('variable rate with holes');
    const clock = constantClock({ num: 30, den: 1 }, 151);
    const options = { clock, held: new Uint8Array(151), deadlineMs: DEADLINE_MS };
    const source = openFrameSource(binaries, file, video, [150], options);
    const target = new Uint8Array(source.frameBytes);
    await expect(source.readInto(target)).rejects.toMatchObject({ code: 'media_corrupt' });
    await source.close();
  });

  it.each<[string, (frames: number) => number[]]>([
    ['the way there', (frames) => order(frames, (i) => i)],
    ['the way back', (frames) => order(frames, (i) => frames - 1 - i)],
    ['a restart that left frames unread', () => [0, 256, 0]],
  ])('lets go of its decoders when closed in the middle of %s', async (_, indicesOf) => {
    const { path: file, stream: video, frames, clock, held } = sample('30 fps');
    const { tools, decoders } = await listingDecoders();
    const indices = indicesOf(frames.length);
    const options = { clock, held, deadlineMs: DEADLINE_MS };
    const source = openFrameSource(tools, file, video, indices, options);
    const target = new Uint8Array(source.frameBytes);
    for (let n = 0; n < 3; n += 1) await source.readInto(target);
    await eventually(async () => expect((await decoders()).some(isAlive)).toBe(true));
    await source.close();
    expect((await decoders()).filter(isAlive)).toEqual([]);
    await expect(source.close()).resolves.toBeUndefined();
  });

  it.each<[string, number[], number]>([
    ['a stretch is read with the decoder that was opened ahead', order(20, (i) => i), 1],
    [
      'one that is played again from memory is read with it, too',
      [...order(20, (i) => i), ...order(20, (i) => i)],
      1,
    ],
    ['few pictures are picked by another decoder, and the one opened ahead ends', [100, 200], 2],
  ])('%s', async (_, indices, expected) => {
    const { path: file, stream: video, frames, clock, held } = sample('30 fps');
    const { tools, decoders } = await listingDecoders();
    const limits = { format: 'yuv420p', deadlineMs: DEADLINE_MS } as const;
    const ahead = openAhead(tools, file, video, limits);
    await eventually(async () => expect(await decoders()).toHaveLength(1));
    const source = openFrameSource(tools, file, video, indices, { clock, held, ahead, ...limits });
    const target = new Uint8Array(source.frameBytes);
    for (const index of indices) {
      await source.readInto(target);
      expect(Buffer.compare(target, frames[index] ?? target.subarray(0, 0))).toBe(0);
    }
    expect(await decoders()).toHaveLength(expected);
    await source.close();
    expect((await decoders()).filter(isAlive)).toEqual([]);
  });

  /** Tools whose decoders leave their process ids behind. */
  async function listingDecoders(): Promise<{ tools: Binaries; decoders: () => Promise<number[]> }> {
    const list = at('decoders');
    await writeFile(list, '');
    const commands = `echo $$ >> '${list}'\nexec '${binaries.ffmpeg}' "$@"`;
    const wrapper = await writeTool(at('ffmpeg'), commands);
    const decoders = async (): Promise<number[]> =>
      (await readFile(list, 'utf8')).split('\n').filter(Boolean).map(Number);
    return { tools: { ...binaries, ffmpeg: wrapper }, decoders };
  }
});
