import { spawn } from 'node:child_process';
import { openFrameDecoder } from '../decode/frame-reader';
import { binariesOf, descriptorsLeftBy, VIDEO_64, withDescriptorsLeft } from '../test/tools';
import { type BytePipe, type ByteSink, openBytePipe, runInto } from './byte-pipe';

/** Only Linux offers what these tests need to observe this. */
const onLinux = process.platform === 'linux' ? test : test.skip;

/** Collects what arrives and pauses the pipe after every delivery. */
function collector(): ByteSink & {
  bytes(): Buffer;
  deliveries: number;
  ended: Promise<void>;
  pipe?: BytePipe;
} {
  const chunks: Buffer[] = [];
  let resolve: () => void = () => undefined;
  const ended = new Promise<void>((done) => (resolve = done));
  return {
    deliveries: 0,
    ended,
    accept(bytes) {
      this.deliveries += 1;
      chunks.push(Buffer.from(bytes));
    },
    end: () => resolve(),
    bytes: () => Buffer.concat(chunks),
  };
}

/** A program that writes `count` bytes, each the low byte of its own offset. */
const WRITER =
  'const b=Buffer.from(Array.from({length:+process.argv[1]},(_,i)=>i&255));process.stdout.write(b)';

test('every byte that a child writes arrives once and in order', async () => {
  const sink = collector();
  const pipe = await openBytePipe(sink);
  const child = spawn(process.execPath, ['-e', WRITER, '1500000'], {
    stdio: ['ignore', pipe.childEnd, 'inherit'],
  });
  pipe.childEnd.destroy();
  expect(sink.deliveries).toBe(0);
  pipe.resume();
  await sink.ended;
  const bytes = sink.bytes();
  expect(bytes).toHaveLength(1_500_000);
  expect(bytes.every((value, i) => value === (i & 255))).toBe(true);
  expect(child.pid).toBeDefined();
});

onLinux.each([0, 1, 2, 3, 4])(
  'a pipe is refused or made, and not waited for, with %d file descriptors left',
  async (left) => {
    const made = await withDescriptorsLeft(left, () => {
      return openBytePipe(collector()).then((pipe) => {
        pipe.childEnd.destroy();
        pipe.destroy();
        return 'made';
      }, String);
    });
    expect(made).toMatch(/^made$|descriptor|EMFILE/);
  },
);

test('a pipe that is paused while it delivers keeps what it delivered and reads no more', async () => {
  const held: Uint8Array[] = [];
  const copies: Buffer[] = [];
  const { promise, resolve } = deferred();
  const pipe = await openBytePipe({
    accept(bytes) {
      pipe.pause();
      held.push(bytes);
      copies.push(Buffer.from(bytes));
      resolve();
    },
    end: () => undefined,
  });
  const child = spawn(process.execPath, ['-e', WRITER, '1500000'], {
    stdio: ['ignore', pipe.childEnd, 'ignore'],
  });
  pipe.childEnd.destroy();
  pipe.resume();
  await promise;
  // The writer fills the pipe and blocks: a child whose output nobody reads does not end.
  await new Promise((done) => setImmediate(done));
  expect(held).toHaveLength(1);
  expect(Buffer.compare(Buffer.from(held[0] ?? []), copies[0] ?? Buffer.alloc(0))).toBe(0);
  pipe.destroy();
  await new Promise((done) => child.once('exit', done));
});

test('a child that was never started ends the pipe', async () => {
  const sink = collector();
  const pipe = await openBytePipe(sink);
  pipe.childEnd.destroy();
  pipe.resume();
  await sink.ended;
  expect(sink.deliveries).toBe(0);
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** No process accepts such an argument: `spawn` throws, as it does when memory runs out. */
const REFUSED = 'a\0b';

const binaries = binariesOf('/bin/true');
const decoder = () =>
  openFrameDecoder(
    binaries,
    { file: `/tmp/${REFUSED}`, video: VIDEO_64, layout: { format: 'yuv420p' }, decoder: 'software' },
    { deadlineMs: 20_000 },
  );

test.each<[string, () => Promise<unknown>]>([
  ['decodes', () => decoder().readInto(new Uint8Array(1))],
  [
    'runs into memory',
    () =>
      runInto(binaries, ['/bin/true', REFUSED], { folder: '/tmp', deadlineMs: 20_000 }, new Uint8Array(1)),
  ],
])('a tool that %s leaves no end of its pipe open when it cannot be started', async (_, start) => {
  const left = await descriptorsLeftBy(async () => {
    for (let n = 0; n < 3; n += 1) await expect(start()).rejects.toThrow('null bytes');
  });
  expect(left).toBe(0);
});

test('a decoder that cannot be started tells its reader why, and is closed like any other', async () => {
  const refused = decoder();
  await expect(refused.readInto(new Uint8Array(1))).rejects.toThrow('null bytes');
  await expect(refused.close()).resolves.toBeUndefined();
});
