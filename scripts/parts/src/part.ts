import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { childrenOf, REPOSITORY_ROOT } from '@lipsync/local-stack';
import { eventually } from '@lipsync/testkit';

interface PartOptions {
  /** Names its folder and its log in PARTS_DIR. */
  name: string;
  version: string | undefined;
  /** In deploy/parts, if it is not named like the part. */
  script?: string;
  argument?: string;
  /** Where it listens once it is ready. */
  port: string;
  /** The settings that the script names at its head. */
  env: Readonly<Record<string, string>> & { PARTS_DIR: string };
  /** It is there for another part, and no outage of it is tried. */
  lasts?: boolean;
}

/** A server of somebody else's making, run by its script in deploy/parts. */
export interface Part {
  title: string;
  lasts: boolean;
  /** Starts it, again after `kill`, and waits until it listens. Settings given once are kept. */
  start(more?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends it and its children at once, as the loss of its machine would. */
  kill(): Promise<void>;
  /** It stays and says nothing until `resume`, as behind a network that drops every packet. */
  silence(): void;
  resume(): void;
}

export function createPart(options: PartOptions): Part {
  const { name, version, script = name, argument = 'run', port, lasts = false } = options;
  const log = path.join(options.env.PARTS_DIR, `${name}.log`);
  let env: Record<string, string> = { PATH: process.env['PATH'] ?? '', PART: name, ...options.env };
  let running: ChildProcess | undefined;
  const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

  function signalAll(signal: NodeJS.Signals): void {
    for (const pid of running?.pid === undefined ? [] : processTree(running.pid)) {
      try {
        process.kill(pid, signal);
      } catch {
        // The child has already ended.
      }
    }
  }

  return {
    title: `${name} ${version ?? ''}`,
    lasts,
    start: async (more = {}) => {
      env = { ...env, ...more };
      const output = openSync(log, 'a');
      const command = path.join(REPOSITORY_ROOT, 'deploy', 'parts', `${script}.sh`);
      const child = spawn(command, [argument], { env, stdio: ['ignore', output, output] });
      closeSync(output);
      running = child;
      await eventually(() => (hasEnded(child) ? undefined : connectTo(Number(port))));
      if (hasEnded(child)) throw new Error(`${name} ended as it started: see ${log}`);
    },
    kill: async () => {
      if (running === undefined || hasEnded(running)) return;
      const exited = once(running, 'exit');
      signalAll('SIGKILL');
      await exited;
    },
    silence: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
  };
}

function processTree(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(processTree)];
}

async function connectTo(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
