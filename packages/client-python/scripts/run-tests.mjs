// Runs the tests of the Python client. Exit status 77: there is no Python here that is new enough.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const SKIPPED = 77;
const command = process.env.LIPSYNC_PYTHON ?? 'python3';

const python = (args, options) =>
  spawnSync(command, args, {
    cwd: root,
    ...options,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: ['src', 'tests'].join(path.delimiter) },
  });

if (python(['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status !== 0) {
  console.log(`skipped, for ${command} is no Python of at least 3.10`);
  process.exit(SKIPPED);
}
process.exit(
  python(['-m', 'unittest', 'discover', '--start-directory', 'tests'], { stdio: 'inherit' }).status ?? 1,
);
