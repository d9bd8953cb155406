import { execFile } from 'node:child_process';
import path from 'node:path';
import { backendEnvironment, REPOSITORY_ROOT } from '@lipsync/local-stack';
import type { System } from './system';

const COMMAND = path.join(REPOSITORY_ROOT, 'scripts', 'local-stack', 'dist', 'admin.js');

interface CommandOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** The admin command as an operator runs it: a separate process that knows the system only from its environment. */
export function createAdmin({ stack }: System) {
  const state = stack.state();
  if (state === null) throw new Error('the stack was never up');
  const env = { PATH: process.env['PATH'] ?? '', ...backendEnvironment(state) };

  const run = (...args: string[]): Promise<CommandOutcome> =>
    new Promise((resolve) => {
      execFile(process.execPath, [COMMAND, ...args], { env }, (error, stdout, stderr) => {
        resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      });
    });

  async function succeed(args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await run(...args);
    if (exitCode !== 0) throw new Error(`admin ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
    return stdout;
  }

  return {
    run,
    /** The command's text output. */
    text: (...args: string[]) => succeed(args),
    /** The one JSON value that it prints with --json. */
    json: async <T>(...args: string[]): Promise<T> => JSON.parse(await succeed([...args, '--json'])) as T,
  };
}

export type Admin = ReturnType<typeof createAdmin>;
