import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY_ROOT } from '@lipsync/local-stack';
import { hasPython, makeFaceVideo, makeTone } from '@lipsync/testkit';
import { transform } from '@swc/core';
import { type SharedSystem, shareSystem } from './system';

/** Below this workspace, where the client is found as an installed package is. */
const FOLDER = path.join(__dirname, '..', '.local', `client-${process.pid}`);

const run = promisify(execFile);

let system: SharedSystem;
beforeAll(async () => {
  system = await shareSystem();
  await mkdir(FOLDER, { recursive: true });
});
afterAll(async () => {
  await rm(FOLDER, { recursive: true });
  await system.stop();
});

const environment = () => ({
  ...process.env,
  LIPSYNC_API_KEY: system.customer.api_key,
  LIPSYNC_BASE_URL: system.description.base_url,
});

it('does what its README says, sample after sample', async () => {
  const readme = await readFile(path.join(REPOSITORY_ROOT, 'packages', 'client', 'README.md'), 'utf8');
  const samples = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code).join('');
  const options = { jsc: { parser: { syntax: 'typescript' as const }, target: 'es2022' as const } };
  await writeFile(path.join(FOLDER, 'readme.mjs'), (await transform(samples, options)).code);
  await makeFaceVideo(path.join(FOLDER, 'face.mp4'), { frames: 15, filters: 'null' });
  await makeTone(path.join(FOLDER, 'voice.wav'), { seconds: 1 });
  const { stdout } = await run(process.execPath, ['readme.mjs'], {
    cwd: FOLDER,
    env: environment(),
  });
  expect(stdout).toMatch(/^completed 100$/m);
  expect(stdout).toMatch(/was cancelled\n$/);
  expect((await readdir(FOLDER)).sort()).toEqual([
    'face.mp4',
    'readme.mjs',
    'result.mp4',
    'second.mp4',
    'voice.wav',
  ]);
});

(hasPython('pip') ? describe : describe.skip)(
  'the client for Python, installed from the service itself',
  () => {
    const PYTHON = path.join(REPOSITORY_ROOT, 'packages', 'client-python');
    const folder = path.join(FOLDER, 'python');
    const python = (...args: string[]) =>
      run('python3', args, { cwd: folder, env: { ...environment(), PYTHONPATH: path.join(folder, 'site') } });

    beforeAll(async () => {
      await mkdir(path.join(folder, 'watched'), { recursive: true });
      const index = await fetch(`${system.description.base_url}/downloads`);
      const { files } = (await index.json()) as { files: { name: string; url: string }[] };
      const wheel = files.find(({ name }) => name.endsWith('.whl'))?.url ?? '';
      await run('python3', ['-m', 'pip', 'install', '--no-index', '--no-deps', '--target', 'site', wheel], {
        cwd: folder,
      });
      await makeFaceVideo(path.join(folder, 'face.mp4'), { frames: 15, filters: 'null' });
      await makeTone(path.join(folder, 'voice.wav'), { seconds: 1 });
    });

    it('does what its README says in Python, sample after sample', async () => {
      const readme = await readFile(path.join(PYTHON, 'README.md'), 'utf8');
      const samples = [...readme.matchAll(/^```python\n([^]*?)^```$/gm)].map(([, code]) => code).join('');
      await writeFile(path.join(folder, 'readme.py'), samples);
      const { stdout } = await python('readme.py');
      expect(stdout).toMatch(/^completed 100$/m);
      expect(stdout).toMatch(/was cancelled\n$/);
      expect(await readdir(folder)).toEqual(expect.arrayContaining(['result.mp4', 'second.mp4']));
    });

    it('has a worker that renders what is in a folder once, and says what cannot be rendered', async () => {
      const watched = path.join(folder, 'watched');
      await writeFile(path.join(folder, 'notes.mp4'), 'not a video');
      const before = new Date(Date.now() - 60_000);
      for (const [from, to] of [
        ['face.mp4', 'talk.mp4'],
        ['voice.wav', 'talk.wav'],
        ['notes.mp4', 'notes.mp4'],
        ['voice.wav', 'notes.wav'],
      ] as const) {
        await copyFile(path.join(folder, from), path.join(watched, to));
        await utimes(path.join(watched, to), before, before);
      }
      const worker = path.join(PYTHON, 'examples', 'watch_folder.py');
      const { stdout } = await python(worker, 'watched', '--once');
      expect(stdout).toMatch(/^talk\.mp4: talk\.lipsync\.mp4$/m);
      expect((await readdir(watched)).sort()).toEqual([
        'notes.failed.txt',
        'notes.mp4',
        'notes.wav',
        'talk.lipsync.mp4',
        'talk.mp4',
        'talk.wav',
      ]);
      expect(await readFile(path.join(watched, 'notes.failed.txt'), 'utf8')).toMatch(/\(media_\w+\)\n$/);
      await expect(python(worker, 'watched', '--once')).resolves.toMatchObject({ stdout: '', stderr: '' });
    });
  },
);
