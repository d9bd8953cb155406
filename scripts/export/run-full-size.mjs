// Exports the networks of every upstream at published size, without its weights (full_size.py), if the upstream and a
// Python with its packages are here. Exit status 77: none is.
//
//   LIPSYNC_UPSTREAM          a folder with checkouts of MuseTalk, LatentSync and high_sync, as their repositories are called
//   LIPSYNC_PYTHON_MUSETALK   a Python with MuseTalk's packages, onnx and onnxruntime; else LIPSYNC_PYTHON, else python3.
//                             _LATENTSYNC and _HIGHSYNC: their packages exclude one another
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const LOCAL = path.resolve(HERE, '../../.local');
const SKIPPED = 77;
// Pipelines set what they do not know to nothing.
const { LIPSYNC_UPSTREAM: CHECKOUTS } = process.env;
/** The repository, and the oldest torch whose attention the exporter can fuse. */
const UPSTREAMS = {
  musetalk: { repository: 'MuseTalk', torch: [2, 0] },
  latentsync: { repository: 'LatentSync', torch: [2, 1] },
  highsync: { repository: 'high_sync', torch: [2, 1] },
};

await mkdir(LOCAL, { recursive: true });
// Beside the repository, for /tmp may be memory: HighSync takes 40 GB.
const out = await mkdtemp(path.join(LOCAL, 'full-size-'));
const outcomes = [];
try {
  for (const [engine, { repository, torch }] of Object.entries(UPSTREAMS)) {
    const python =
      process.env[`LIPSYNC_PYTHON_${engine.toUpperCase()}`] || process.env.LIPSYNC_PYTHON || 'python3';
    const upstream = path.join(CHECKOUTS ?? '', repository);
    const obstacle = obstacleTo(upstream, python, torch);
    if (obstacle !== undefined) {
      console.log(`${engine}: skipped, ${obstacle}`);
      continue;
    }
    const program = path.join(HERE, 'full_size.py');
    const { status } = spawnSync(
      python,
      [program, engine, '--upstream', upstream, '--out', out, '--discard'],
      {
        stdio: 'inherit',
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', TMPDIR: out },
      },
    );
    outcomes.push(status ?? 1);
  }
} finally {
  await rm(out, { recursive: true, force: true });
}
process.exit(outcomes.length === 0 ? SKIPPED : Math.max(...outcomes));

/** Why this engine cannot be exported here; undefined if it can. */
function obstacleTo(upstream, python, [major, minor]) {
  if (!CHECKOUTS) return 'for LIPSYNC_UPSTREAM is not set';
  if (!existsSync(upstream)) return `for ${upstream} does not exist`;
  const check = [
    'import torch, onnx, onnxruntime, diffusers',
    `assert tuple(map(int, torch.__version__.split(".")[:2])) >= (${major}, ${minor}), "torch " + torch.__version__`,
  ];
  const { status, stderr, error } = spawnSync(python, ['-c', check.join('\n')], { encoding: 'utf8' });
  if (status === 0) return undefined;
  const reason = error?.message ?? (stderr.trim().split('\n').at(-1) || `status ${status}`);
  return `for ${python} lacks torch ${major}.${minor}, onnx, onnxruntime or diffusers (${reason})`;
}
