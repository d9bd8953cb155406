import { readdir } from 'node:fs/promises';
import { openFrameDecoder } from '../decode/frame-decoder';
import { type VideoStream } from '../probe/stream-info';
import { type Binaries } from './binaries';
import { runInto } from './run-into';
import { SOFTWARE_CODECS } from './video-codecs';

/** No process accepts such an argument: `spawn` throws, as it does when memory runs out. */
const REFUSED = 'a\0b';

const binaries: Binaries = {
  ...{
    ffmpeg: '/bin/true',
    ffprobe: '/bin/true',
    sandbox: {},
    codecs: SOFTWARE_CODECS,
    share: { memoryBytes: 1024 ** 3, decoderThreads: 1, encoderThreads: 1 },
  },
  deviceEnvironment: {},
};
const video: VideoStream = {
  ...{ codec: 'h264', width: 64, height: 64, fps: 25, pixFmt: 'yuv420p', color: {}, upright: [] },
  pixelAspect: { num: 1, den: 1 },
  timeBase: { num: 1, den: 25 },
};
const decoder = () =>
  openFrameDecoder(
    binaries,
    { file: `/tmp/${REFUSED}`, video, layout: { format: 'yuv420p' }, decoder: 'software' },
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
  const before = await openDescriptors();
  for (let n = 0; n < 3; n += 1) await expect(start()).rejects.toThrow('null bytes');
  // Sockets close in the next turn of the event loop.
  await new Promise((done) => setImmediate(done));
  expect(await openDescriptors()).toBe(before);
});

test('a decoder that cannot be started tells its reader why, and is closed like any other', async () => {
  const refused = decoder();
  await expect(refused.readInto(new Uint8Array(1))).rejects.toThrow('null bytes');
  await expect(refused.close()).resolves.toBeUndefined();
});

async function openDescriptors(): Promise<number> {
  return (await readdir('/dev/fd')).length;
}
