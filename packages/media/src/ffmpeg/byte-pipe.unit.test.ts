import { once } from 'node:events';
import { type Socket } from 'node:net';
import { openPictureDecoder } from '../decode/picture-reader';
import { binariesOf, descriptorsLeftBy, VIDEO_64, withDescriptorsLeft } from '../test/tools';
import { BytePipe } from './byte-pipe';

/** Only Linux offers what these tests need to observe this. */
const onLinux = process.platform === 'linux' ? test : test.skip;

describe('a pipe', () => {
  /** More than it and the kernel buffer together, each byte the low byte of its offset. */
  const BYTES = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => i & 255));

  /** Writes in pieces of these sizes and then of 100,000, as a child would. */
  async function write(childEnd: Socket, ...pieces: number[]): Promise<void> {
    let from = 0;
    for (let piece = pieces.shift() ?? 100_000; from < BYTES.length; piece = pieces.shift() ?? 100_000) {
      if (!childEnd.write(BYTES.subarray(from, from + piece))) await once(childEnd, 'drain');
      from += piece;
    }
    childEnd.end();
  }

  test('fills the buffers of its reader in order, however the bytes arrive, and tells how much of the last one', async () => {
    const pipe = await BytePipe.open();
    const writing = write(pipe.childEnd, 1, 70_000, 3);
    const [whole, rest] = [new Uint8Array(70_000), BYTES.length % 70_000];
    const read: Buffer[] = [];
    let bytes = whole.length;
    while (bytes === whole.length) {
      bytes = await pipe.read(whole);
      read.push(Buffer.from(whole.subarray(0, bytes)));
    }
    expect(bytes).toBe(rest);
    expect(Buffer.concat(read).equals(BYTES)).toBe(true);
    expect(await pipe.read(whole)).toBe(0);
    await writing;
  });

  test('holds up its writer while nobody reads', async () => {
    const pipe = await BytePipe.open();
    pipe.childEnd.write(BYTES);
    await pipe.read(new Uint8Array(10));
    await new Promise((done) => setTimeout(done, 20));
    expect(pipe.childEnd.writableLength).toBeGreaterThan(0);
    pipe.destroy();
  });

  test('ends when its child was never started', async () => {
    const pipe = await BytePipe.open();
    pipe.childEnd.destroy();
    expect(await pipe.read(new Uint8Array(1))).toBe(0);
  });

  onLinux.each([0, 1, 2, 3, 4])(
    'is refused or made, and not waited for, with %d file descriptors left',
    async (left) => {
      const made = await withDescriptorsLeft(left, () =>
        BytePipe.open().then((pipe) => {
          pipe.destroy();
          return 'made';
        }, String),
      );
      expect(made).toMatch(/^made$|descriptor|EMFILE/);
    },
  );
});

describe('a decoder that cannot be started', () => {
  // No process accepts such an argument: `spawn` throws, as it does when memory runs out.
  const decoder = () =>
    openPictureDecoder(
      binariesOf('/bin/true'),
      { file: '/tmp/a\0b', video: VIDEO_64, layout: { format: 'yuv420p' }, decoder: 'software' },
      { deadlineMs: 20_000 },
    );

  test('tells its reader why, is closed like any other, and leaves no end of its pipe open', async () => {
    const left = await descriptorsLeftBy(async () => {
      for (let n = 0; n < 3; n += 1) {
        const refused = decoder();
        await expect(refused.readInto(new Uint8Array(1))).rejects.toThrow('null bytes');
        await expect(refused.close()).resolves.toBeUndefined();
      }
    });
    expect(left).toBe(0);
  });
});
