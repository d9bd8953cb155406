import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { validate } from '@lipsync/contract';
import { REPOSITORY_ROOT } from '../local-stack/layout';

jest.setTimeout(240_000);

describe('the demo command', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'e2e-demo-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: REPOSITORY_ROOT });
  const script = (name: string) => path.join(REPOSITORY_ROOT, 'scripts', 'dist', `${name}.js`);

  it('boots the system, renders, says as JSON what it did, and leaves nothing running', async () => {
    const root = path.join(folder, 'stack');
    const outFile = path.join(folder, 'result.mp4');
    const { stdout } = await run(
      script('demo'),
      '--json',
      '--sync-mode',
      'loop',
      '--out',
      outFile,
      '--root',
      root,
    );
    const said = JSON.parse(stdout) as {
      record: unknown;
      event: { type: string };
      files: { file: string }[];
    };
    expect(validate('Record', said.record)).toEqual({ ok: true });
    expect(said.record).toMatchObject({ status: 'completed', sync_mode: 'loop' });
    expect(said.event.type).toBe('render.completed');
    expect(said.files.map(({ file }) => file)).toEqual([outFile]);
    expect((await stat(outFile)).size).toBeGreaterThan(10_000);

    const status = await run(script('stack'), '--root', root, 'status', '--json').catch(
      (error: unknown) => error,
    );
    expect(status).toMatchObject({ code: 1 });
    const { services } = JSON.parse((status as { stdout: string }).stdout) as {
      services: { pid: number | null }[];
    };
    expect(services.map(({ pid }) => pid)).toEqual([null, null, null, null]);
  });

  it('refuses a file that is not there before it starts anything', async () => {
    const failure = await run(script('demo'), '--video', 'missing.mp4').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining('missing.mp4') as string });
  });
});
