import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createStack, REPOSITORY_ROOT } from '@lipsync/local-stack';
import { eventually } from '@lipsync/testkit';
import { Client } from 'pg';

jest.setTimeout(240_000);

describe('the demo command', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'e2e-demo-'));
  });
  afterAll(async () => {
    for (const name of ['shared', 'killed']) {
      const stack = createStack({ root: path.join(folder, name) });
      await stack.down();
      stack.erase();
    }
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: REPOSITORY_ROOT });
  const script = (name: string) => path.join(REPOSITORY_ROOT, 'scripts', 'local-stack', 'dist', `${name}.js`);

  it('runs twice at once on one stack, which the last one stops', async () => {
    const root = path.join(folder, 'shared');
    const outFile = path.join(folder, 'shared.mp4');
    const demo = () => run(script('demo'), '--json', '--out', outFile, '--root', root);
    const demos = await Promise.all([demo(), demo()]);
    for (const { stdout } of demos)
      expect(JSON.parse(stdout)).toMatchObject({
        record: { status: 'completed' },
        event: { type: 'render.completed', deliveries: 1 },
      });
    const stack = createStack({ root });
    expect(stack.describe()?.services.map(({ pid }) => pid)).toEqual([null, null, null, null]);
  });

  it('completes even if every service is killed while it renders, and announces it once', async () => {
    const root = path.join(folder, 'killed');
    const outFile = path.join(folder, 'survived.mp4');
    const demo = run(script('demo'), '--json', '--keep', '--out', outFile, '--root', root);
    const stack = createStack({ root });
    const { postgres_url: connectionString, services } = await eventually(
      () => {
        const description = stack.describe();
        expect(description?.services.map(({ pid }) => typeof pid)).toEqual(new Array(4).fill('number'));
        if (description === null) throw new Error('it was never up');
        return description;
      },
      { deadlineMs: 60_000 },
    );
    const database = new Client({ connectionString });
    await database.connect();
    const count = async (rows: string): Promise<number> =>
      (await database.query(`SELECT FROM ${rows}`)).rowCount ?? 0;
    await eventually(async () => expect(await count(`engine_runs WHERE status = 'processing'`)).toBe(1), {
      deadlineMs: 60_000,
    });

    for (const { pid } of services) if (pid !== null) process.kill(pid, 'SIGKILL');
    await run(script('stack'), '--root', root, 'up');

    const said = JSON.parse((await demo).stdout) as { record: unknown; event: unknown };
    expect(said).toMatchObject({ record: { status: 'completed' }, event: { type: 'render.completed' } });
    expect((await stat(outFile)).size).toBeGreaterThan(10_000);
    expect(await count('webhook_events')).toBe(1);
    await database.end();
  });
});
