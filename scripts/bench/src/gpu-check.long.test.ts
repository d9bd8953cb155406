import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { ENGINES } from '@lipsync/contract';
import { type TimeSpent } from './measure-engine';

/** The compiled command: it starts processes that cannot run TypeScript. */
const PROGRAM = path.resolve(__dirname, '../dist/gpu-check.js');
const ENGINES_BY_NAME = [...ENGINES].sort();
let folder: string;
const at = (name: string): string => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gpu-check-test-'));
  await buildBuiltinPacks(at('built'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function check(...args: string[]) {
  const env = { ...process.env, MODEL_PACKS_DIR: at('built') };
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    encoding: 'utf8',
    env,
  });
  return { status, stdout, stderr };
}

/** The distribution's may have torch though another Python comes first. */
const python = [process.env['LIPSYNC_PYTHON'] ?? 'python3', '/usr/bin/python3'].find(
  (command) => spawnSync(command, ['-c', 'import torch, onnx']).status === 0,
);

const outcomes = (json: string): string[] =>
  (JSON.parse(json) as { steps: { step: string; outcome: string }[] }).steps.map(
    ({ step, outcome }) => `${step}: ${outcome}`,
  );

test('a dry run takes every pack through every step, and one damaged pack fails it', async () => {
  await cp(at('built'), at('packs'), { recursive: true });
  await cp(at('built/builtin-musetalk'), at('packs/damaged'), { recursive: true });
  await appendFile(at('packs/damaged/unet.onnx'), '!');
  const args = ['--dry-run', '--packs', at('packs'), '--seconds', '0.2', '--out', at('report.json')];
  if (python !== undefined) args.push('--python', python);
  const { status, stdout, stderr } = check(...args);

  expect(status).toBe(1);
  expect(outcomes(stdout)).toEqual([
    'card: skipped',
    'CUDA: skipped',
    'video codecs: ok',
    'pack damaged: failed',
    'analysis: ok',
    ...ENGINES_BY_NAME.flatMap((engine) =>
      ['verify', 'graphs', 'render']
        .map((step) => `${step} builtin-${engine}: ok`)
        .concat(`PyTorch builtin-${engine}: ${python === undefined ? 'skipped' : 'ok'}`),
    ),
  ]);
  expect(stderr).toMatch(/^{"step":"pack damaged","outcome":"failed",.*unet\.onnx \(unet\) has SHA-256/m);
  const report = JSON.parse(stdout) as { ok: boolean; steps: Record<string, unknown>[] };
  expect(report).toMatchObject({ ok: false, dry_run: true });
  const rendered = report.steps.filter((step) => 'rendered_frames' in step);
  for (const figures of rendered) {
    expect(figures).toMatchObject({ rendered_frames: 5, gpu_seconds: null });
    // Three channels of 256 × 256 floats for each face, at least.
    expect(figures['bytes_received_per_frame']).toBeGreaterThan(3 * 256 * 256 * 4);
    const { seconds, wall_seconds: wall } = figures['second_render'] as TimeSpent;
    expect(wall['graphs']).toBeGreaterThan(0);
    expect(Object.values(wall).reduce((sum, part) => sum + part)).toBeCloseTo(seconds, 1);
  }
  const [timed] = report.steps.filter((step) => 'graphs' in step);
  expect(timed?.['graphs']).toMatchObject({
    denoising_unet: { size: 1, ms: expect.any(Number) as number },
    vae_decoder: { size: 4, change_ms: expect.any(Number) as number },
  });
  expect(await readFile(at('report.json'), 'utf8')).toBe(stdout);
});

test('without a pack that could be checked it says what is wrong with those that are there', async () => {
  await cp(at('built/builtin-musetalk'), at('bad/damaged'), { recursive: true });
  await appendFile(at('bad/damaged/unet.onnx'), '!');
  const { status, stdout, stderr } = check('--dry-run', '--packs', at('bad'));
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^gpu-check: there is no such pack .*unet\.onnx \(unet\) has SHA-256/m);
});

test('steps that are cut off keep no later step from its turn', () => {
  const { status, stdout, stderr } = check('--dry-run', '--packs', at('built'), '--step-seconds', '0.04');
  expect(status).toBe(1);
  expect(outcomes(stdout).slice(3)).toEqual([
    'analysis: failed',
    ...ENGINES_BY_NAME.flatMap((engine) => [
      `verify builtin-${engine}: failed`,
      `graphs builtin-${engine}: skipped`,
      `render builtin-${engine}: skipped`,
      `PyTorch builtin-${engine}: skipped`,
    ]),
  ]);
  expect(stderr).toMatch(/^{"step":"analysis","outcome":"failed",.*"reason":"not done after 0.04 s"}$/m);
});

test('SIGTERM ends it in the middle of a step', async () => {
  const env = { ...process.env, MODEL_PACKS_DIR: at('built'), TMPDIR: folder };
  const args = [PROGRAM, '--dry-run', '--packs', at('built'), '--seconds', '0.2'];
  const program = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(program, 'exit');
  let said = '';
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    // The graphs come next.
    if (said.includes('"step":"verify')) program.kill('SIGTERM');
  });
  expect(await ended).toEqual([null, 'SIGTERM']);
  expect(said).not.toContain('"step":"render');
});
