import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY_ROOT, SAMPLE_AUDIO } from '@lipsync/local-stack';
import { probe, resolveBinaries } from '@lipsync/media';
import { makeFaceVideo } from '@lipsync/testkit';
import { type SharedSystem, shareSystem } from './system';

const SAMPLES = path.join(REPOSITORY_ROOT, 'services/api/public/samples');
const PYTHON_CLIENT = path.join(REPOSITORY_ROOT, 'packages/client-python/src');
const FRAMES = 10;

let system: SharedSystem;
let folder: string;
let clip: string;
beforeAll(async () => {
  system = await shareSystem();
  folder = await mkdtemp(path.join(tmpdir(), 'samples-'));
  clip = path.join(folder, 'talk.mp4');
  await makeFaceVideo(clip, { frames: FRAMES, filters: 'null' });
});
afterAll(async () => {
  await system.stop();
  await rm(folder, { recursive: true });
});

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

const LANGUAGES: [name: string, needs: string, run: (result: string) => Promise<unknown>][] = [
  ['curl', 'jq', program(path.join(SAMPLES, 'render.sh'))],
  ['Python', 'python3', program('python3', path.join(SAMPLES, 'render.py'))],
  ['Go', 'go', program('go', 'run', path.join(SAMPLES, 'render.go'))],
  ['TypeScript', 'node', inTypeScript],
];

// Not every machine has every language.
const where = (command: string) => (spawnSync('which', [command]).status === 0 ? it : it.skip);

describe('the sample of the documentation renders two files', () => {
  for (const [name, needs, run] of LANGUAGES)
    where(needs)(`in ${name}`, async () => {
      const result = path.join(folder, `${name}.mp4`);
      await run(result);
      const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
      const binaries = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
      const { video } = await probe(binaries, result, { mediaType: 'video', deadlineMs: 60_000 });
      expect(video?.frames).toBe(FRAMES);
    });
});
