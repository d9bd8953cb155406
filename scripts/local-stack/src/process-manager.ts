import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { processBegan } from './processes';
import { waitUntil } from './waiting';

/** A background process of the local stack. */
export interface ProcessSpec {
  name: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  isReady: () => Promise<boolean>;
  /** Time between SIGTERM and SIGKILL. */
  stopGraceMs: number;
}

interface PidRecord {
  pid: number;
  /** Start time from the process table: distinguishes the process from a later one with the same pid. */
  began: string;
  /** Digest of the specification it was started with, so that a changed setting restarts the process. */
  spec: string;
}

export type StartOutcome = 'started' | 'restarted' | 'already running';

/**
 * Starts, finds and stops detached processes through pid files in `runDir`; their output goes to `logsDir`. Holds no
 * state of its own: any number of command invocations see the same processes.
 */
export function createProcessManager({ runDir, logsDir }: { runDir: string; logsDir: string }) {
  mkdirSync(runDir, { recursive: true });
  mkdirSync(logsDir, { recursive: true });
  const pidFile = (name: string) => path.join(runDir, `${name}.json`);

  function readRecord(name: string): PidRecord | null {
    try {
      return JSON.parse(readFileSync(pidFile(name), 'utf8')) as PidRecord;
    } catch {
      return null;
    }
  }

  /** Pid of the running process of this name, or null. */
  function findPid(name: string): number | null {
    const record = readRecord(name);
    return record !== null && processBegan(record.pid) === record.began ? record.pid : null;
  }

  async function start(spec: ProcessSpec): Promise<StartOutcome> {
    const digest = specDigest(spec);
    const running = findPid(spec.name);
    if (running !== null && readRecord(spec.name)?.spec === digest) return 'already running';
    if (running !== null) await stop(spec);
    const log = openSync(path.join(logsDir, `${spec.name}.log`), 'a');
    const child = spawn(spec.command, spec.args, {
      env: spec.env,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.unref();
    if (child.pid === undefined) throw new Error(`${spec.name} could not be started`);
    const record: PidRecord = { pid: child.pid, began: processBegan(child.pid) ?? '', spec: digest };
    writeFileSync(pidFile(spec.name), JSON.stringify(record));
    return running === null ? 'started' : 'restarted';
  }

  async function stop({ name, stopGraceMs }: Pick<ProcessSpec, 'name' | 'stopGraceMs'>): Promise<void> {
    const pid = findPid(name);
    if (pid !== null) {
      process.kill(pid, 'SIGTERM');
      const gone = await waitUntil(() => findPid(name) === null, stopGraceMs);
      if (!gone) process.kill(pid, 'SIGKILL');
    }
    rmSync(pidFile(name), { force: true });
  }

  return { findPid, start, stop };
}

function specDigest({ command, args, env }: ProcessSpec): string {
  const sorted = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([command, args, sorted]))
    .digest('hex');
}
