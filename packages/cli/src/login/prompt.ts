import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from '../failures/exit-codes';
import { interruption, type Surroundings } from '../session/session';

type Terminal = Pick<Surroundings, 'stdin' | 'stderr' | 'interrupted'>;

/** Asks on a terminal; elsewhere there is nobody to ask. */
export async function askFor(question: string, terminal: Terminal): Promise<string> {
  if (terminal.stdin.isTTY !== true)
    throw new CommandError('The URL of the service is missing.', 'usage', 'Set it with --base-url.');
  return ask(question, terminal.stderr, terminal);
}

/** Asks on a terminal without showing what is typed; elsewhere reads the first line of standard input. */
export async function askForSecret(question: string, terminal: Terminal): Promise<string> {
  if (terminal.stdin.isTTY !== true) return firstLine(terminal);
  terminal.stderr.write(question);
  // The terminal is in raw mode, so what is typed is shown only where readline writes it.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    return await ask('', nowhere, terminal);
  } finally {
    terminal.stderr.write('\n');
  }
}

async function ask(question: string, output: NodeJS.WritableStream, terminal: Terminal): Promise<string> {
  const lines = createInterface({ input: terminal.stdin, output, terminal: true });
  // In raw mode Ctrl-C is a character, which readline knows.
  const typed = new AbortController();
  lines.once('SIGINT', () => typed.abort());
  const signal = AbortSignal.any([terminal.interrupted, typed.signal]);
  try {
    return (await lines.question(question, { signal })).trim();
  } catch (error) {
    if (signal.aborted) throw interruption(terminal, 'Interrupted.');
    throw error;
  } finally {
    lines.close();
  }
}

async function firstLine({ stdin }: Terminal): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += chunk.toString();
    if (text.includes('\n')) break;
  }
  return (text.split('\n', 1)[0] ?? '').trim();
}
