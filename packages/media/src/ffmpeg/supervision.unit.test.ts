import { getEventListeners } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Binaries } from './binaries';
import { type ChildOptions, type MediaChild, startChild } from './media-child';
import { runInto } from './run-into';
import { runToEnd } from './run-to-end';
import { SOFTWARE_CODECS } from './video-codecs';

const ENDLESS = 'exec cat /dev/zero';

describe('a media tool', () => {
  let folder: string;
  let options: ChildOptions;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'supervision-'));
    options = { folder, deadlineMs: 20_000 };
  });
  afterAll(() => rm(folder, { recursive: true }));

  const binaries: Binaries = {
    ...{
      ffmpeg: '/bin/true',
      ffprobe: '/bin/true',
      sandbox: {},
      codecs: SOFTWARE_CODECS,
      share: { memoryBytes: 1024 ** 3, decoderThreads: 1, encoderThreads: 1 },
    },
    deviceEnvironment: { CUDA_VISIBLE_DEVICES: '1' },
  };
  /** A tool that runs these commands of a shell. */
  async function tool(commands: string): Promise<[string]> {
    const file = join(folder, 'tool');
    await writeFile(file, `#!/bin/sh\n${commands}\n`);
    await chmod(file, 0o755);
    return [file];
  }
  const start = async (commands: string, more: Partial<ChildOptions> = {}): Promise<MediaChild> =>
    startChild(binaries, await tool(commands), { ...options, ...more });

  test('is stopped together with the processes that it has started', async () => {
    const child = await start('sleep 60 & echo started; wait');
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill();
    // It ends only when nobody holds its standard error any more.
    expect(await child.exit).toMatchObject({ ended: 'stopped' });
  });

  test('that has ended leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    expect(await (await start('exit 0', { signal })).exit).toMatchObject({ ended: 'exit' });
    expect(timers()).toBe(before);
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
    const into = await runInto(binaries, await tool(ENDLESS), options, new Uint8Array(10));
    expect(into.exit.ended).toBe('stopped');
    expect(into.bytes).toBeLessThanOrEqual(10);
    const collected = await runToEnd(binaries, await tool(ENDLESS), options, 10);
    expect(collected.exit.ended).toBe('stopped');
    expect(collected.stdout.length).toBeLessThanOrEqual(10);
  });

  test.each([
    ['nothing', {}, ''],
    ['only what the card needs, where it uses one,', { device: true }, 'CUDA_VISIBLE_DEVICES=1\n'],
  ])('learns %s of this process’s environment', async (_, more, environment) => {
    const { stdout } = await runToEnd(binaries, ['/usr/bin/env'], { ...options, ...more }, 100_000);
    expect(stdout.toString()).toBe(environment);
  });
});
