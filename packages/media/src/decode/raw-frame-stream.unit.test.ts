import { PassThrough } from 'node:stream';
import { RawFrameStream } from './raw-frame-stream';

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
