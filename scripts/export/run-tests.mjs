// Runs the exporters' Python tests if some Python can run them. Exit status 77: none can.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const SKIPPED = 77;
// If another Python comes first in PATH, the distribution's may still be the one that has torch.
const PYTHONS = [process.env.LIPSYNC_PYTHON ?? 'python3', '/usr/bin/python3'];

const python = (command, args, options) =>
  spawnSync(command, args, {
    encoding: 'utf8',
    ...options,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });

const reasons = [];
for (const command of new Set(PYTHONS)) {
  const { status, stderr, error } = python(command, ['-c', 'import torch, onnx']);
  if (status === 0) {
    const tests = ['-m', 'unittest', 'discover', '--buffer', '--start-directory', HERE];
    process.exit(
      python(command, [...tests, '--top-level-directory', HERE], { stdio: 'inherit' }).status ?? 1,
    );
  }
  reasons.push(`${command}: ${error?.message ?? (stderr.trim().split('\n').at(-1) || `status ${status}`)}`);
}
console.log(`skipped, for no Python here has torch and onnx (${reasons.join('; ')})`);
process.exit(SKIPPED);
