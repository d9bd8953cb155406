// A check need not run again in a workspace that has passed it. Whether a workspace is still the same, turbo says: it
// makes a hash of everything that turbo.json names for the check. What failed is never kept.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The programs that tests run and no lockfile knows, and the option that makes them say their version. */
const PROGRAMS = [
  [process.env.FFMPEG_BIN ?? 'ffmpeg', '-version'],
  [process.env.FFPROBE_BIN ?? 'ffprobe', '-version'],
  [process.env.REDIS_SERVER_BIN ?? 'redis-server', '--version'],
  ['postgres', '--version'],
];

/**
 * Keeps its notes below `.local` of the repository `root`. `env` is that of the checks, with turbo on its PATH. With
 * `force`, nothing has passed.
 */
export function rememberPasses(root, env, { force }) {
  const notes = path.join(root, '.local', 'passed');
  const noteOf = (check, hash) => path.join(notes, `${check}-${hash}`);
  const versions = PROGRAMS.map(
    ([name, option]) => spawnSync(name, [option], { env, encoding: 'utf8' }).stdout,
  );
  const TEST_MACHINE = [process.version, process.arch, os.release(), ...versions].join('\n');

  /** The hash of every workspace, by its folder relative to the root. */
  function hashes(check) {
    const { status, stdout, stderr } = spawnSync('turbo', ['run', check, '--dry=json'], {
      cwd: root,
      env: { ...env, TEST_MACHINE },
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    if (status !== 0) throw new Error(`turbo made no hashes for ${check}:\n${stderr}`);
    const { tasks } = JSON.parse(stdout);
    return new Map(
      tasks.filter(({ task }) => task === check).map(({ directory, hash }) => [directory, hash]),
    );
  }

  /** The workspaces that have passed the check as they are, and the `open` ones; `keep` notes some that passed now. */
  return function lookUp(check) {
    const before = hashes(check);
    const folders = [...before.keys()];
    const hasPassed = (folder) => !force && existsSync(noteOf(check, before.get(folder)));
    return {
      passed: folders.filter(hasPassed),
      open: folders.filter((folder) => !hasPassed(folder)),
      keep(passed) {
        // A workspace that was edited meanwhile may have passed as it was before or as it is now.
        const after = hashes(check);
        mkdirSync(notes, { recursive: true });
        for (const folder of passed)
          if (after.get(folder) === before.get(folder)) writeFileSync(noteOf(check, before.get(folder)), '');
      },
    };
  };
}
