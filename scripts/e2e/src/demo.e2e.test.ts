import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ENGINES, validate } from '@lipsync/contract';
import { createStack, REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO, type Stack } from '@lipsync/local-stack';
import { type SyncMeasurement } from '@lipsync/models';
import { makeFaceVideo, makeTone } from '@lipsync/testkit';
import { shareSystem } from './system';

const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: REPOSITORY_ROOT });
const script = (name: string, workspace = 'local-stack') =>
  path.join(REPOSITORY_ROOT, 'scripts', workspace, 'dist', `${name}.js`);

/** With the packs that come with the service, as nobody else's tests here. */
describe('the demo command', () => {
  let folder: string;
  let stack: Stack;
  let media: string[];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'e2e-demo-'));
    stack = createStack({ root: path.join(folder, 'stack') });
    // Short, because every engine renders it on the processor.
    const [video, audio] = [path.join(folder, 'face.mp4'), path.join(folder, 'voice.wav')];
    await makeFaceVideo(video, { frames: 6, filters: 'null' });
    await makeTone(audio, { seconds: 0.4 });
    media = ['--video', video, '--audio', audio];
  });
  afterAll(async () => {
    await stack.down();
    stack.erase();
    await rm(folder, { recursive: true, force: true });
  });

  it('starts the system, renders with all engines beside another demo, reports as JSON; the last one stops everything. A mouth moves with its voice', async () => {
    const { root } = stack.layout;
    const demo = async (outFile: string, ...options: string[]) => {
      const command = [script('demo'), '--json', '--out', path.join(folder, outFile), ...options];
      const { stdout } = await run(...command, '--root', root);
      return JSON.parse(stdout) as { record: unknown; event: unknown; files: { file: string }[] };
    };
    const [said, other] = await Promise.all([
      demo('result.mp4', ...media, '--engines', ENGINES.join(','), '--sync-mode', 'loop'),
      demo('other.mp4'),
    ]);
    expect(validate('Record', said.record)).toEqual({ ok: true });
    expect(said.record).toMatchObject({ status: 'completed', sync_mode: 'loop' });
    expect(other.record).toMatchObject({ status: 'completed', sync_mode: 'cut_off' });
    for (const { event } of [said, other])
      expect(event).toMatchObject({ type: 'render.completed', deliveries: 1 });
    expect(said.files.map(({ file }) => file)).toEqual(
      ENGINES.map((engine) => path.join(folder, `result.${engine}.mp4`)),
    );
    for (const { file } of said.files) expect((await stat(file)).size).toBeGreaterThan(1_000);

    const sample = ['--audio', SAMPLE_AUDIO, '--source', SAMPLE_VIDEO];
    const { stdout } = await run(
      script('measure-sync', 'models'),
      '--video',
      path.join(folder, 'other.mp4'),
      ...sample,
    );
    const measured = JSON.parse(stdout) as SyncMeasurement;
    // The source says something else. By how much it is exceeded says nothing of how well the mouth speaks.
    expect(measured.rendered.pearson).toBeGreaterThan(measured.source?.pearson ?? NaN);
    expect(measured.rendered.lagSeconds ?? 0).toBeLessThan(0.1);
    expect(measured.rendered.lagSeconds ?? 0).toBeGreaterThan(-0.14);
    expect(measured.outside_face?.psnr_db).toBeGreaterThanOrEqual(45);
    expect(measured.duration?.within_one_frame).toBe(true);

    const status = await run(script('stack'), '--root', root, 'status', '--json').catch(
      (error: unknown) => error,
    );
    expect(status).toMatchObject({ code: 1 });
    const { services } = JSON.parse((status as { stdout: string }).stdout) as {
      services: { pid: number | null }[];
    };
    expect(services.map(({ pid }) => pid)).toEqual([null, null, null, null]);
  });

  it('leaves nothing running when it is interrupted', async () => {
    const demo = spawn(process.execPath, [script('demo'), '--root', stack.layout.root], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(demo, 'exit');
    for await (const text of demo.stdout.setEncoding('utf8')) if (String(text).includes('rendering')) break;
    demo.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    const parts = [...(stack.describe()?.services ?? []), ...(await stack.servers())];
    expect(parts.map(({ pid }) => pid)).toEqual(new Array(7).fill(null));
  });

  it('renders on a running service, for the customer whose key it is given', async () => {
    const system = await shareSystem();
    const outFile = path.join(folder, 'remote.mp4');
    const target = ['--target', system.description.base_url, '--key', system.customer.api_key];
    const { stdout } = await run(script('demo'), '--json', ...media, '--out', outFile, ...target);
    const said = JSON.parse(stdout) as { record: { id: string } };
    expect(said.record).toMatchObject({ status: 'completed' });
    expect(said).not.toHaveProperty('event');
    expect((await stat(outFile)).size).toBeGreaterThan(1_000);
    expect(await system.api.renders.get(said.record.id)).toMatchObject({ status: 'completed' });
    await system.stop();
  });

  it('refuses a file that does not exist before it starts anything', async () => {
    const root = path.join(folder, 'refused');
    const failure = await run(script('demo'), '--root', root, '--video', 'missing.mp4').catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining('missing.mp4') as string });
    expect(existsSync(root)).toBe(false);
  });
});

it.each([
  ['demo', 'Usage: demo'],
  ['models', 'Usage: models'],
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
