import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const COMPLAINTS_MAX_CHARACTERS = 2000;

/**
 * What a program reports, a line of JSON at a time. It is killed when nobody wants more or `signal` is aborted, whatever
 * it is doing; its input is closed when this process is lost. Rejects at once when aborted, and when the program cannot
 * be started or fails.
 */
export async function* reportsOf<Report>(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Report> {
  const child = spawn(program, args, { stdio: 'pipe' });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-COMPLAINTS_MAX_CHARACTERS);
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  // It is awaited once there is nothing more to read.
  closed.catch(() => undefined);
  try {
    for await (const line of createInterface({ input: child.stdout, signal })) {
      yield JSON.parse(line) as Report;
    }
    signal.throwIfAborted();
    const [code, killedBy] = await closed;
    if (code !== 0) throw new Error(`the process ended (${killedBy ?? code}): ${complaints.trim()}`);
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}
