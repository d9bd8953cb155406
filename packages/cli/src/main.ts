#!/usr/bin/env node
import { run } from './run';

const interruption = new AbortController();
// Once: a second Ctrl-C ends the process at once.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort(signal));

const { env, stdin, stdout, stderr } = process;
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  // Nobody reads on, for instance `head`, which has enough.
  interruption.abort('SIGPIPE');
});
void run(process.argv.slice(2), { env, stdin, stdout, stderr, interrupted: interruption.signal }).then(
  (exitCode) => {
    process.exitCode = exitCode;
    // What was interrupted may still hold a connection open, or wait for input.
    if (interruption.signal.aborted) process.exit();
  },
);
