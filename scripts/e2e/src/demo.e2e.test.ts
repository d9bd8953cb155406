import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ENGINES, validate } from '@lipsync/contract';
import { createStack, REPOSITORY_ROOT } from '@lipsync/local-stack';

jest.setTimeout(240_000);

describe('the demo command', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'e2e-demo-'));
  });
  afterAll(async () => {
    for (const name of ['stack', 'target', 'interrupted']) {
      const stack = createStack({ root: path.join(folder, name) });
      await stack.down();
      stack.erase();
    }
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: REPOSITORY_ROOT });
  const script = (name: string) => path.join(REPOSITORY_ROOT, 'scripts', 'local-stack', 'dist', `${name}.js`);

  it('starts the system, renders with all engines, reports as JSON, and leaves nothing running', async () => {
    const root = path.join(folder, 'stack');
    const outFile = path.join(folder, 'result.mp4');
    const { stdout } = await run(
      script('demo'),
      '--json',
      '--engines',
      ENGINES.join(','),
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
    expect(said.files.map(({ file }) => file)).toEqual(
      ENGINES.map((engine) => path.join(folder, `result.${engine}.mp4`)),
    );
    for (const { file } of said.files) expect((await stat(file)).size).toBeGreaterThan(10_000);

    const status = await run(script('stack'), '--root', root, 'status', '--json').catch(
      (error: unknown) => error,
    );
    expect(status).toMatchObject({ code: 1 });
    const { services } = JSON.parse((status as { stdout: string }).stdout) as {
      services: { pid: number | null }[];
    };
    expect(services.map(({ pid }) => pid)).toEqual([null, null, null, null]);
  });

  it('renders on a running service, for the customer whose key it is given', async () => {
    const stack = createStack({ root: path.join(folder, 'target') });
    const { base_url: target, customers } = await stack.up();
    const outFile = path.join(folder, 'remote.mp4');
    const key = customers[0]?.api_key ?? '';
    const { stdout } = await run(
      script('demo'),
      '--json',
      '--out',
      outFile,
      '--target',
      target,
      '--key',
      key,
    );
    const said = JSON.parse(stdout) as { record: unknown };
    expect(said.record).toMatchObject({ status: 'completed' });
    expect(said).not.toHaveProperty('event');
    expect((await stat(outFile)).size).toBeGreaterThan(10_000);
    expect(stack.describe()?.services.every(({ pid }) => pid !== null)).toBe(true);
  });

  it('leaves nothing running when it is interrupted', async () => {
    const root = path.join(folder, 'interrupted');
    const demo = spawn(process.execPath, [script('demo'), '--root', root], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(demo, 'exit');
    for await (const text of demo.stdout.setEncoding('utf8')) if (String(text).includes('rendering')) break;
    demo.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    const stack = createStack({ root });
    const parts = [...(stack.describe()?.services ?? []), ...(await stack.servers())];
    expect(parts.map(({ pid }) => pid)).toEqual(new Array(7).fill(null));
  });

  it.each([
    ['does not exist', 'missing.mp4'],
    ['is of a type that the service does not take', __filename],
  ])('refuses a file that %s before it starts anything', async (_, file) => {
    const root = path.join(folder, 'refused');
    const failure = await run(script('demo'), '--root', root, '--video', file).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining(file) as string });
    expect(existsSync(root)).toBe(false);
  });
});

it.each([
  ['demo', 'Usage: demo'],
  ['stack', 'Usage: stack'],
  ['admin', 'Usage: admin'],
  ['models', 'Usage: models'],
  ['load-test', 'Usage: load-test'],
  ['bench-engines', 'Usage: bench:engines'],
])(
  'npm run %s -- --help answers without installing, building or measuring anything',
  async (command, text) => {
    // Without PATH nothing could be installed or built.
    const help = await promisify(execFile)(
      process.execPath,
      [path.join(REPOSITORY_ROOT, 'scripts', 'run.mjs'), command, '--help'],
      { env: { PATH: '' } },
    );
    expect(help).toEqual({ stdout: expect.stringContaining(text) as string, stderr: '' });
  },
);
