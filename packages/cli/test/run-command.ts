import { PassThrough } from 'node:stream';
import { run } from '../src/run';

interface Surroundings {
  /** Where the command keeps its profiles and its history. */
  folder: string;
  env?: Record<string, string>;
  input?: string;
  interruption?: AbortController;
  onOutput?: (text: string) => void;
}

/** Runs a command as a script does: nothing is a terminal. */
export async function runCommand(
  args: readonly string[],
  { folder, env, input = '', interruption = new AbortController(), onOutput }: Surroundings,
) {
  const texts = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof texts) =>
    new PassThrough().on('data', (chunk: Buffer) => (texts[name] += chunk.toString()));
  const stdout = stream('stdout');
  if (onOutput !== undefined) stdout.on('data', (chunk: Buffer) => onOutput(chunk.toString()));
  const exitCode = await run(args, {
    env: { XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, ...env },
    stdin: new PassThrough().end(input),
    stdout,
    stderr: stream('stderr'),
    interrupted: interruption.signal,
  });
  return { exitCode, ...texts };
}
