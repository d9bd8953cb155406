import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from '../probe/inspect';
import { withDescriptorsLeft } from '../test/descriptors-left';
import { type Binaries } from './binaries';
import { type ChildExit, startChild } from './media-child';
import { type Sandbox } from './sandbox';
import { SOFTWARE_CODECS } from './video-codecs';

/** Only Linux offers what these tests need to observe this. */
const onLinux = process.platform === 'linux' ? test : test.skip;

describe('a media tool that ends without a verdict', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'media-child-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const toolsWith = (ffprobe: string, sandbox: Sandbox = {}): Binaries => ({
    ...{ ffmpeg: ffprobe, ffprobe, sandbox, codecs: SOFTWARE_CODECS, deviceEnvironment: {} },
    share: { memoryBytes: 1024 ** 3, decoderThreads: 1, encoderThreads: 1 },
  });
  async function script(name: string, text: string): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, `#!/bin/sh\n${text}\n`);
    await chmod(file, 0o755);
    return file;
  }
  const endOf = (command: string): Promise<ChildExit> =>
    startChild(toolsWith(command), [command], { folder, deadlineMs: 20_000 }).exit;

  test('because the kernel killed it is told from one that refused its input', async () => {
    expect(await endOf(await script('shot', 'kill -KILL $$'))).toMatchObject({ ended: 'killed' });
    expect(await endOf(await script('told to end', 'kill -TERM $$'))).toMatchObject({ ended: 'killed' });
    const ends = 'echo "Exiting normally, received signal 15." >&2; exit 255';
    expect(await endOf(await script('ends as told', ends))).toMatchObject({ ended: 'killed' });
    expect(await endOf(await script('refuses', 'exit 1'))).toMatchObject({ ended: 'exit', code: 1 });
    expect(await endOf(await script('crashes', 'kill -SEGV $$'))).toMatchObject({
      ended: 'exit',
      code: null,
    });
  });

  onLinux(
    'for want of a file descriptor has failed alone: it does not take this process with it',
    async () => {
      const end = await withDescriptorsLeft(0, async () => {
        const child = startChild(toolsWith('/bin/true'), ['/bin/true'], { folder, deadlineMs: 20_000 });
        const written = await new Promise((resolve) => child.stdin.write('a frame', resolve));
        return { exit: await child.exit, written, read: await child.stdout.toArray() };
      });
      expect(end.exit.ended).toBe('not_started');
      expect(end.exit.stderr).toMatch('EMFILE');
      expect(end.written).toMatchObject({ code: 'ERR_STREAM_DESTROYED' });
      expect(end.read).toEqual([]);
    },
  );

  test.each([
    ['a thread', 'Error while opening decoder: Resource temporarily unavailable', 1],
    ['a file descriptor', 'input.mp4: Too many open files', 1],
    ['room on the disk', 'Error writing trailer of output.mp4: No space left on device', 228],
    ['a library', 'ffmpeg: error while loading shared libraries: libx264.so: cannot map', 127],
    ['a program', 'prlimit: failed to execute ffmpeg: No such file or directory', 127],
  ])('for want of %s has not judged the file', async (_, complaint, code) => {
    const starved = await script('starved', `echo "${complaint}" >&2; exit ${code}`);
    expect(await endOf(starved)).toMatchObject({ ended: 'not_started', code });
    // The complaint did not stop the tool from doing its work.
    const done = await script('done', `echo "${complaint}" >&2; exit 0`);
    expect(await endOf(done)).toMatchObject({ ended: 'exit', code: 0 });
  });

  test('is not held against the file', async () => {
    const file = join(folder, 'video.mp4');
    await writeFile(file, 'anything');
    const killed = inspect(toolsWith(await script('killed', 'kill -KILL $$')), file);
    await expect(killed).rejects.toMatchObject({ name: 'MediaProcessError', reason: 'killed' });

    const prlimit = await script(
      'prlimit',
      'echo "prlimit: failed to set the DATA resource limit" >&2; exit 1',
    );
    const confined = inspect(toolsWith('/bin/true', { prlimit }), file);
    await expect(confined).rejects.toMatchObject({ name: 'MediaProcessError', reason: 'not_started' });
  });
});
