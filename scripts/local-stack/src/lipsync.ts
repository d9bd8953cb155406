import path from 'node:path';
import { Writable } from 'node:stream';
import type { RenderAnswer } from '@lipsync/cli';
import { REPOSITORY_ROOT } from './layout';

const STATE = path.join(REPOSITORY_ROOT, '.local', 'state');

interface CommandResult extends RenderAnswer {
  exitCode: number;
}

/**
 * Runs `lipsync render` in this process as a customer would at a terminal. Progress and errors go to standard error.
 * @throws Error when it ended without a render; it has then said why
 */
export async function lipsyncRender(
  args: readonly string[],
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string },
): Promise<CommandResult> {
  // Not at the top: a deployed workspace contains the bundle of the command, not its modules.
  const { run } = await import('@lipsync/cli');
  let output = '';
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      output += chunk.toString();
      done();
    },
  });
  const exitCode = await run(['render', ...args, '--json'], {
    // What was rendered with the key of a stack is nothing that its user asks for later.
    env: { ...process.env, LIPSYNC_API_KEY: apiKey, LIPSYNC_BASE_URL: baseUrl, XDG_STATE_HOME: STATE },
    stdin: process.stdin,
    stdout,
    stderr: process.stderr,
    interrupted: new AbortController().signal,
  });
  // Without files when the render failed.
  const { render, files = [] } = JSON.parse(output) as Partial<RenderAnswer>;
  if (render === undefined) throw new Error(`lipsync ended with ${exitCode}`);
  return { render, files, exitCode };
}
