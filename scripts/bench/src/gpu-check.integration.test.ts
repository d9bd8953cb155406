import { spawnSync } from 'node:child_process';
import { appendFile, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildBuiltinPacks } from '@lipsync/engines';

/** The compiled command: it starts processes that cannot run TypeScript. */
const PROGRAM = path.resolve(__dirname, '../dist/gpu-check.js');
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

const outcomes = (json: string): string[] =>
  (JSON.parse(json) as { steps: { step: string; outcome: string }[] }).steps.map(
    ({ step, outcome }) => `${step}: ${outcome}`,
  );

test('a dry run takes a pack through every step, and a damaged pack fails it', async () => {
  await cp(at('built/builtin-musetalk'), at('packs/musetalk'), { recursive: true });
  await cp(at('built/builtin-musetalk'), at('packs/damaged'), { recursive: true });
  await appendFile(at('packs/damaged/unet.onnx'), '!');
  const args = ['--dry-run', '--packs', at('packs'), '--seconds', '0.2', '--out', at('report.json')];
  const { status, stdout, stderr } = check(...args);

  expect(status).toBe(1);
  expect(outcomes(stdout)).toEqual([
    'card: skipped',
    'CUDA: skipped',
    'video codecs: ok',
    'pack damaged: failed',
    'verify builtin-musetalk: ok',
    'render builtin-musetalk: ok',
  ]);
  expect(stderr).toMatch(/^failed .* pack damaged: .*unet\.onnx \(unet\) has SHA-256/m);
  const report = JSON.parse(stdout) as { ok: boolean; steps: Record<string, unknown>[] };
  expect(report).toMatchObject({ ok: false, dry_run: true });
  const rendered = report.steps.at(-1);
  expect(rendered).toMatchObject({ rendered_frames: 5, gpu_seconds: null });
  // Three channels of 256 × 256 floats for each face, at least.
  expect(rendered?.['bytes_received_per_frame']).toBeGreaterThan(3 * 256 * 256 * 4);
  expect(await readFile(at('report.json'), 'utf8')).toBe(stdout);
});
