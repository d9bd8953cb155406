import { spawnSync } from 'node:child_process';

/**
 * Whether `python3` is one that the Python client is for, with these modules. Where it is not, tests of Python code are
 * skipped by name.
 */
export function hasPython(...modules: string[]): boolean {
  const check = `import ${['sys', ...modules].join()}; sys.exit(sys.version_info < (3, 10))`;
  return spawnSync('python3', ['-c', check]).status === 0;
}
