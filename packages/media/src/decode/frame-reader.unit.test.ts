import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { binariesOf, descriptorsLeftBy, VIDEO_64, writeTool } from '../test/tools';
import { type FrameDecoder, openFrameDecoder, RawFrameStream } from './frame-reader';

describe('a decoder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'frame-decoder-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** A decoder whose tool runs these commands of a shell. */
  async function decoderThat(commands: string): Promise<FrameDecoder> {
    return openFrameDecoder(
      binariesOf(await writeTool(join(folder, 'ffmpeg'), commands)),
      { file: join(folder, 'in.mp4'), video: VIDEO_64, layout: { format: 'yuv420p' }, decoder: 'software' },
      { deadlineMs: 20_000 },
    );
  }

  test.each([
    ['ends in the middle of a frame has failed, whatever it says', 'printf 123; exit 0', 'media_corrupt'],
    ['fails after its last whole frame has failed', 'printf 1234; exit 1', 'media_corrupt'],
  ])('that %s', async (_, commands, code) => {
    const decoder = await decoderThat(commands);
    const frame = new Uint8Array(4);
    const all = async (): Promise<void> => {
      while (await decoder.readInto(frame));
    };
    await expect(all()).rejects.toMatchObject({ code });
    await decoder.close();
  });

  test('that is closed in the middle of a video leaves no pipe open', async () => {
    const left = await descriptorsLeftBy(async () => {
      for (let n = 0; n < 3; n += 1) {
        const decoder = await decoderThat('exec cat /dev/zero');
        expect(await decoder.readInto(new Uint8Array(4))).toBe(true);
        await decoder.close();
      }
    });
    expect(left).toBe(0);
  });
});

describe('frames cut from a byte stream', () => {
  it('are independent of how the bytes arrive', async () => {
    const bytes = Buffer.from(Array.from({ length: 24 }, (_, i) => i));
    const source = new PassThrough();
    const frames = framesOf(source);
    for (const [from, to] of [
      [0, 1],
      [1, 13],
      [13, 14],
      [14, 24],
    ] as const)
      source.write(bytes.subarray(from, to));
    source.end();
    const read: number[][] = [];
    const frame = new Uint8Array(6);
    while ((await frames.read(frame)) === 6) read.push([...frame]);
    expect(read).toEqual(
      [bytes.subarray(0, 6), bytes.subarray(6, 12), bytes.subarray(12, 18), bytes.subarray(18)].map((b) => [
        ...b,
      ]),
    );
  });

  it('report how much of a torn last frame there was', async () => {
    const source = new PassThrough();
    const frames = framesOf(source);
    source.end(Buffer.alloc(9));
    const frame = new Uint8Array(6);
    expect(await frames.read(frame)).toBe(6);
    expect(await frames.read(frame)).toBe(3);
    expect(await frames.read(frame)).toBe(0);
  });

  it('leave the source paused while nobody reads, so that its producer waits', async () => {
    const source = new PassThrough({ highWaterMark: 8 });
    const frames = framesOf(source);
    await frames.read(await feed(source, 6));
    expect(source.isPaused()).toBe(true);
  });
});

function framesOf(source: PassThrough): RawFrameStream {
  const frames = new RawFrameStream();
  source.pause();
  source.on('data', (chunk: Buffer) => frames.accept(chunk)).once('end', () => frames.end());
  frames.connect(source);
  return frames;
}

async function feed(source: PassThrough, bytes: number): Promise<Uint8Array> {
  source.write(Buffer.alloc(bytes * 2));
  return new Uint8Array(bytes);
}
