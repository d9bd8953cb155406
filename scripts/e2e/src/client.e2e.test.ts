import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY_ROOT } from '@lipsync/local-stack';
import { makeFaceVideo, makeTone } from '@lipsync/testkit';
import { transform } from '@swc/core';
import { type SharedSystem, shareSystem } from './system';

/** Below this workspace, where the client is found as an installed package is. */
const FOLDER = path.join(__dirname, '..', '.local', `client-${process.pid}`);

let system: SharedSystem;
beforeAll(async () => {
  system = await shareSystem();
  await mkdir(FOLDER, { recursive: true });
});
afterAll(async () => {
  await rm(FOLDER, { recursive: true });
  await system.stop();
});

it('does what its README says, sample after sample', async () => {
  const readme = await readFile(path.join(REPOSITORY_ROOT, 'packages', 'client', 'README.md'), 'utf8');
  const samples = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code).join('');
  const options = { jsc: { parser: { syntax: 'typescript' as const }, target: 'es2022' as const } };
  await writeFile(path.join(FOLDER, 'readme.mjs'), (await transform(samples, options)).code);
  await makeFaceVideo(path.join(FOLDER, 'face.mp4'), { frames: 15, filters: 'null' });
  await makeTone(path.join(FOLDER, 'voice.wav'), { seconds: 1 });
  const { stdout } = await promisify(execFile)(process.execPath, ['readme.mjs'], {
    cwd: FOLDER,
    env: {
      ...process.env,
      LIPSYNC_API_KEY: system.customer.api_key,
      LIPSYNC_BASE_URL: system.description.base_url,
    },
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
