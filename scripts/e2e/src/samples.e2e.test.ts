import { execFile, spawnSync } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY_ROOT, SAMPLE_AUDIO } from '@lipsync/local-stack';
import { probe, resolveBinaries } from '@lipsync/media';
import { hasPython, makeFaceVideo, testFolder } from '@lipsync/testkit';
import { type SharedSystem, shareSystem } from './system';

const SAMPLES = path.join(REPOSITORY_ROOT, 'services/api/public/samples');
const PYTHON_CLIENT = path.join(REPOSITORY_ROOT, 'packages/client-python/src');
const FRAMES = 10;

let system: SharedSystem;
const at = testFolder();
let clip: string;
beforeAll(async () => {
  system = await shareSystem();
  clip = at('talk.mp4');
  await makeFaceVideo(clip, { frames: FRAMES, filters: 'null' });
});
afterAll(() => system.stop());

const environment = () => ({
  LIPSYNC_BASE_URL: system.description.base_url,
  LIPSYNC_API_KEY: system.customer.api_key,
});

const program =
  (command: string, ...args: string[]) =>
  (result: string) =>
    promisify(execFile)(command, [...args, clip, SAMPLE_AUDIO, result], {
      env: { ...process.env, ...environment(), PYTHONPATH: PYTHON_CLIENT },
    });

async function inTypeScript(result: string): Promise<void> {
  const sample = (await import(path.join(SAMPLES, 'render.ts'))) as {
    renderFiles: (video: string, voice: string, result: string) => Promise<void>;
  };
  const { log } = console;
  Object.assign(process.env, environment());
  console.log = () => undefined;
  try {
    await sample.renderFiles(clip, SAMPLE_AUDIO, result);
  } finally {
    console.log = log;
    for (const name of Object.keys(environment())) delete process.env[name];
  }
}

const hasJq = spawnSync('jq', ['--version']).status === 0;
/** 1.24 or newer, as the documentation says. */
const hasGo = /\bgo1\.(2[4-9]|[3-9]\d)/.test(String(spawnSync('go', ['version']).stdout));

const LANGUAGES: [name: string, available: boolean, run: (result: string) => Promise<unknown>][] = [
  ['curl', hasJq, program(path.join(SAMPLES, 'render.sh'))],
  ['Python', hasPython(), program('python3', path.join(SAMPLES, 'render.py'))],
  ['Go', hasGo, program('go', 'run', path.join(SAMPLES, 'render.go'))],
  ['TypeScript', true, inTypeScript],
];

// Not every machine has every language.
const where = (available: boolean) => (available ? it : it.skip);

describe('the sample of the documentation renders two files', () => {
  for (const [name, available, run] of LANGUAGES)
    where(available)(`in ${name}`, async () => {
      const result = at(`${name}.mp4`);
      await run(result);
      const binaries = await resolveBinaries(process.env);
      const { video } = await probe(binaries, result, { mediaType: 'video', deadlineMs: 60_000 });
      expect(video?.frames).toBe(FRAMES);
    });
});

where(hasGo)('the sample in Go that verifies a webhook is accepted by its compiler', async () => {
  await promisify(execFile)('go', ['vet', path.join(SAMPLES, 'verify-webhook.go')]);
});

it('renders what is in a folder, from cron, and tells what can never be rendered', async () => {
  const [watched, bin] = [at('watched'), at('bin')];
  await Promise.all([mkdir(watched), mkdir(bin)]);
  const command = path.join(REPOSITORY_ROOT, 'packages/cli/bundle/lipsync.js');
  await writeFile(path.join(bin, 'lipsync'), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`, {
    mode: 0o755,
  });
  await copyFile(clip, path.join(watched, 'talk.mp4'));
  for (const voice of ['talk.wav', 'damaged.wav', 'alone.wav'])
    await copyFile(SAMPLE_AUDIO, path.join(watched, voice));
  await writeFile(path.join(watched, 'damaged.mp4'), (await readFile(clip)).subarray(0, 2000));
  const PATH = `${bin}:${process.env['PATH'] ?? ''}`;
  const env = { ...process.env, ...environment(), PATH, XDG_CONFIG_HOME: at(), XDG_STATE_HOME: at() };
  const visit = () => promisify(execFile)('sh', [path.join(SAMPLES, 'watch-folder.sh'), watched], { env });
  await visit();
  const files = [
    'alone.wav',
    'damaged.failed',
    'damaged.mp4',
    'damaged.wav',
    'talk.mp4',
    'talk.musetalk.mp4',
  ];
  expect((await readdir(watched)).sort()).toEqual([...files, 'talk.wav']);
  expect(await readFile(path.join(watched, 'damaged.failed'), 'utf8')).toMatch(/damaged|cannot be read/i);
  // There is nothing to do for the next run, without a service too.
  env.LIPSYNC_BASE_URL = 'http://127.0.0.1:9';
  await visit();
});
