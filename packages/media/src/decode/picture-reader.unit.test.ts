import { testFolder } from '@lipsync/testkit';
import { binariesOf, descriptorsLeftBy, VIDEO_64, writeTool } from '../test/tools';
import { openPictureDecoder, type PictureDecoder } from './picture-reader';

describe('a decoder', () => {
  const at = testFolder();

  /** A decoder whose tool runs these commands of a shell. */
  async function decoderThat(commands: string): Promise<PictureDecoder> {
    return openPictureDecoder(
      binariesOf(await writeTool(at('ffmpeg'), commands)),
      { file: at('in.mp4'), video: VIDEO_64, layout: { format: 'yuv420p' }, decoder: 'software' },
      { deadlineMs: 20_000 },
    );
  }

  test.each([
    ['ends in the middle of a frame has failed, whatever it says', 'printf 123; exit 0', 'media_corrupt'],
    ['fails after its last whole frame has failed', 'printf 1234; exit 1', 'media_corrupt'],
  ])('that %s', async (_, commands, code) => {
    const decoder = await decoderThat(commands);
    await expect(readAll(decoder)).rejects.toMatchObject({ code });
    await decoder.close();
  });

  test('that lacks a filter has not started, and says nothing about the media', async () => {
    const decoder = await decoderThat('echo "No such filter: \'zscale\'" >&2; exit 1');
    await expect(readAll(decoder)).rejects.toMatchObject({ reason: 'not_started' });
    await decoder.close();
  });

  async function readAll(decoder: PictureDecoder): Promise<void> {
    const frame = new Uint8Array(4);
    while (await decoder.readInto(frame));
  }

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
