import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/** A child process of the benchmark. */
export interface BenchProcess {
  /** The next message that it sends; the caller knows its type. */
  hear<Message>(): Promise<Message>;
  tell(message: object): void;
  stop(): Promise<void>;
}

/**
 * Starts a module in a process of its own, with its output in a file. With BENCH_PROFILE=<folder> each process writes a
 * CPU profile there when it ends.
 */
export function startProcess(options: {
  module: string;
  env: Readonly<Record<string, string>>;
  logFile: string;
}): BenchProcess {
  const log = openSync(options.logFile, 'a');
  const profiles = process.env['BENCH_PROFILE'];
  const child = fork(options.module, [], {
    env: options.env,
    execArgv: profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`],
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const ended = once(child, 'exit');
  return {
    hear: () => nextMessage(child, options) as Promise<never>,
    tell: (message) => void child.send(message),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}

function nextMessage(
  child: ChildProcess,
  { module, logFile }: { module: string; logFile: string },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error(`${module} has ended; see ${logFile}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
