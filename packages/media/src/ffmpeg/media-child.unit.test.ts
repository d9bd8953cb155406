import { getEventListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { testFolder } from '@lipsync/testkit';
import { readAudio } from '../audio-reader';
import { inspect } from '../probe/inspect';
import { binariesOf, withDescriptorsLeft, writeTool } from '../test/tools';
import { type ChildExit, type ChildOptions, type MediaChild, runToEnd, startChild } from './media-child';

/** Only Linux offers what these tests need to observe this. */
const onLinux = process.platform === 'linux' ? test : test.skip;

const at = testFolder();

const script = (name: string, commands: string): Promise<string> => writeTool(at(name), commands);
const endOf = (command: string): Promise<ChildExit> =>
  startChild(binariesOf(command), [command], { folder: at(), deadlineMs: 20_000 }).exit;

test('a refusal quotes neither the addresses of the tool in memory nor what it was allowed', async () => {
  const refusal = "[mpegts @ 0x55cc972a8900] Format not on whitelist 'mov,matroska,webm'";
  const refuses = await script('refuses a format', `echo "${refusal}" >&2; exit 1`);
  expect((await endOf(refuses)).stderr).toBe('[mpegts] Format not on whitelist\n');
});

describe('a media tool that ends without a verdict', () => {
  test('because the kernel killed it is distinguished from one that refused its input', async () => {
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
        const child = startChild(binariesOf('/bin/true'), ['/bin/true'], {
          folder: at(),
          deadlineMs: 20_000,
        });
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
    const file = at('video.mp4');
    await writeFile(file, 'anything');
    const killed = inspect(binariesOf(await script('killed', 'kill -KILL $$')), file);
    await expect(killed).rejects.toMatchObject({ name: 'MediaProcessError', reason: 'killed' });

    const prlimit = await script(
      'prlimit',
      'echo "prlimit: failed to set the DATA resource limit" >&2; exit 1',
    );
    const confined = inspect(binariesOf('/bin/true', { sandbox: { prlimit } }), file);
    await expect(confined).rejects.toMatchObject({ name: 'MediaProcessError', reason: 'not_started' });
  });
});

const ENDLESS = 'exec cat /dev/zero';

describe('a media tool', () => {
  const binaries = binariesOf('/bin/true', { deviceEnvironment: { CUDA_VISIBLE_DEVICES: '1' } });
  const tool = async (commands: string): Promise<[string]> => [await writeTool(at('tool'), commands)];
  const options = (): ChildOptions => ({ folder: at(), deadlineMs: 20_000 });
  const start = async (commands: string, more: Partial<ChildOptions> = {}): Promise<MediaChild> =>
    startChild(binaries, await tool(commands), { ...options(), ...more });

  test('is stopped together with the processes that it has started', async () => {
    const child = await start('sleep 60 & echo started; wait');
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill();
    // It ends only when nobody holds its standard error open.
    expect(await child.exit).toMatchObject({ ended: 'stopped' });
  });

  test('that has ended leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    const begun = jest.spyOn(globalThis, 'setTimeout');
    const cleared = jest.spyOn(globalThis, 'clearTimeout');
    expect(await (await start('exit 0', { signal })).exit).toMatchObject({ ended: 'exit' });
    const timers = begun.mock.results.map(({ value }) => value as unknown);
    expect(timers).not.toEqual([]);
    expect(cleared.mock.calls.flat()).toEqual(expect.arrayContaining(timers));
    jest.restoreAllMocks();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('is quoted with the first of what it complains of, however much that is', async () => {
    const child = await start('echo why >&2; yes complaint | head -c 100000 >&2; exit 1');
    const { stderr } = await child.exit;
    expect(stderr).toMatch(/^why\n/);
    expect(stderr).toHaveLength(16_384);
  });

  test('is quoted to the end, also with what arrives after its exit', async () => {
    // The subshell waits until the tool is gone.
    const child = await start('(while kill -0 $$ 2>/dev/null; do :; done; echo why >&2) & exit 1');
    expect(await child.exit).toMatchObject({ ended: 'exit', code: 1, stderr: 'why\n' });
  });

  test('that writes more than there is room for is stopped', async () => {
    const [endless] = await tool(ENDLESS);
    const heard = readAudio(binariesOf(endless), at('in.wav'), { deadlineMs: 20_000 });
    await expect(heard).rejects.toMatchObject({ name: 'MediaProcessError', reason: 'stopped' });
    const collected = await runToEnd(binaries, [endless], options(), 10);
    expect(collected.exit.ended).toBe('stopped');
    expect(collected.stdout.length).toBeLessThanOrEqual(10);
  });

  test.each([
    ['nothing', {}, ''],
    ['only what the card needs, where it uses one,', { device: true }, 'CUDA_VISIBLE_DEVICES=1\n'],
  ])('learns %s of this process’s environment', async (_, more, environment) => {
    const { stdout } = await runToEnd(binaries, ['/usr/bin/env'], { ...options(), ...more }, 100_000);
    expect(stdout.toString()).toBe(environment);
  });
});
