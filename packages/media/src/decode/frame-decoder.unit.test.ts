import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOFTWARE_CODECS } from '../ffmpeg/video-codecs';
import { type VideoStream } from '../probe/stream-info';
import { type FrameDecoder, openFrameDecoder } from './frame-decoder';

const video: VideoStream = {
  ...{ codec: 'h264', width: 64, height: 64, fps: 25, pixFmt: 'yuv420p', color: {}, upright: [] },
  pixelAspect: { num: 1, den: 1 },
  timeBase: { num: 1, den: 25 },
};

describe('a decoder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'frame-decoder-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** A decoder whose tool runs these commands of a shell. */
  async function decoderThat(commands: string): Promise<FrameDecoder> {
    const ffmpeg = join(folder, 'ffmpeg');
    await writeFile(ffmpeg, `#!/bin/sh\n${commands}\n`);
    await chmod(ffmpeg, 0o755);
    const tools = { ffmpeg, ffprobe: ffmpeg, sandbox: {}, codecs: SOFTWARE_CODECS };
    const share = { memoryBytes: 1024 ** 3, decoderThreads: 1, encoderThreads: 1 };
    return openFrameDecoder(
      { ...tools, share, deviceEnvironment: {} },
      { file: join(folder, 'in.mp4'), video, layout: { format: 'yuv420p' }, decoder: 'software' },
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
    const openDescriptors = async (): Promise<number> => (await readdir('/dev/fd')).length;
    const before = await openDescriptors();
    for (let n = 0; n < 3; n += 1) {
      const decoder = await decoderThat('exec cat /dev/zero');
      expect(await decoder.readInto(new Uint8Array(4))).toBe(true);
      await decoder.close();
    }
    // Sockets close in the next turn of the event loop.
    await new Promise((done) => setImmediate(done));
    expect(await openDescriptors()).toBe(before);
  });
});
