import { spawn } from 'node:child_process';
import { type Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { type MediaProcessError } from '../media-error';
import { type Binaries } from './binaries';
import { confine, refusedToConfine } from './sandbox';

/** Enough for a verdict; a hostile file can make the tools complain forever. */
const STDERR_MAX_CHARACTERS = 16_384;
/** A backstop for one child: far above an honest output, far below what hurts the machine. */
const FILE_BYTES = 8 * 1024 ** 3;
/**
 * Memory of a child that decodes only what it needs to describe a file: four times what 4K needs. A hostile file's
 * index grows without end.
 */
export const DEMUXING_MEMORY_BYTES = 256 * 1024 ** 2;
const CPU_SECONDS_PER_SECOND = 32;
const OPEN_FILES = 64;
const DEVICE_OPEN_FILES = 1024;

export interface ChildOptions {
  /** The folder of the input file: the child's working directory, and the only folder that its command line names. */
  readonly folder: string;
  /** Wall-clock limit from the start of the process; then its whole group gets SIGKILL. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * The child's standard output, in place of the pipe to `MediaChild.stdout`: a socket, which is destroyed here, or the
   * number of an open file, which is not closed.
   */
  readonly stdout?: Socket | number;
  /** The child also gets a pipe as its descriptor 3: `MediaChild.report`, which has to be read or the child stops. */
  readonly reports?: boolean;
  /** Called with the tool's standard error as it arrives; `ChildExit.stderr` holds only the first part. */
  readonly onComplaint?: (text: string) => void;
  /** Writable memory that the child may have, where that is less than its share of the machine. Linux only. */
  readonly memoryBytes?: number;
  /** The child uses a card: it gets the environment and the open files that the card's driver needs. */
  readonly device?: boolean;
}

export interface ChildExit {
  readonly code: number | null;
  /** For messages: without addresses and lists of options. */
  readonly stderr: string;
  /**
   * Only `exit` means that the tool itself reported its outcome. `killed`: by another party, such as a kernel out of
   * memory.
   */
  readonly ended: 'exit' | MediaProcessError['reason'];
}

export interface MediaChild {
  readonly stdin: Writable;
  /** Empty when `ChildOptions.stdout` takes the output. */
  readonly stdout: Readable;
  /** What the child writes to its descriptor 3; empty without `ChildOptions.reports`. */
  readonly report: Readable;
  /** Resolves once the process is gone; never rejects. */
  readonly exit: Promise<ChildExit>;
  /** Resolves when the tool next writes `name` to its standard error; stays pending if it never does. */
  complaintAbout(name: string): Promise<void>;
  /** Sends SIGKILL to the whole process group; safe at any time, also after the end. */
  kill(): void;
}

/** Starts ffmpeg or ffprobe: argv array, only a card's environment, own process group, a deadline, a bounded stderr. */
export function startChild(
  binaries: Binaries,
  command: readonly [string, ...string[]],
  options: ChildOptions,
): MediaChild {
  const device = options.device === true;
  const [program, ...args] = confine(
    binaries.sandbox,
    {
      cpuSeconds: (options.deadlineMs / 1000) * CPU_SECONDS_PER_SECOND,
      memoryBytes: Math.min(binaries.share.memoryBytes, options.memoryBytes ?? Infinity),
      fileBytes: FILE_BYTES,
      openFiles: device ? DEVICE_OPEN_FILES : OPEN_FILES,
    },
    command,
  );
  const env = device ? { ...binaries.deviceEnvironment } : {};
  const { folder: cwd, stdout = 'pipe' } = options;
  const more = options.reports === true ? (['pipe'] as const) : [];
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', stdout, 'pipe', ...more] });
  if (typeof stdout === 'object') stdout.destroy();
  // When the system is out of file descriptors, the child has no streams and emits `error` later.
  const stdin = child.stdin ?? new Writable().destroy();
  const complaints = child.stderr ?? Readable.from([]);

  let ended: ChildExit['ended'] = 'exit';
  const stop = (why: ChildExit['ended']): void => {
    if (child.exitCode !== null || child.signalCode !== null || ended !== 'exit') return;
    ended = why;
    killGroup(child.pid);
  };
  const deadline = setTimeout(() => stop('deadline'), options.deadlineMs);
  const onAbort = (): void => stop('stopped');
  if (options.signal?.aborted === true) onAbort();
  else options.signal?.addEventListener('abort', onAbort, { once: true });

  let stderr = '';
  complaints.setEncoding('utf8').on('data', (text: string) => {
    options.onComplaint?.(text);
    if (stderr.length < STDERR_MAX_CHARACTERS) stderr += text.slice(0, STDERR_MAX_CHARACTERS - stderr.length);
  });
  const complaintAbout = (name: string): Promise<void> =>
    new Promise((resolve) => complaints.on('data', (text: string) => text.includes(name) && resolve()));
  // A child that dies early closes its input. Its exit status tells why, so the broken pipe itself is not news.
  stdin.on('error', () => undefined);

  const exit = new Promise<ChildExit>((resolve) => {
    const settle = (result: ChildExit): void => {
      clearTimeout(deadline);
      options.signal?.removeEventListener('abort', onAbort);
      resolve(result);
    };
    child.once('error', (error) => settle({ code: null, stderr: error.message, ended: 'not_started' }));
    child.once('exit', (code, killedBy) => {
      // Not 'close': stdout may be paused on purpose. The end of stderr is still awaited because it holds the reason.
      const finish = (): void =>
        settle({
          code,
          stderr: readable(stderr),
          ended: ended === 'exit' ? ownEnd(code, killedBy, stderr) : ended,
        });
      if (complaints.readableEnded || complaints.destroyed) finish();
      else complaints.once('close', finish);
    });
  });
  const output = child.stdout ?? Readable.from([]);
  const extra = (child.stdio as typeof child.stdio | undefined)?.[3];
  const report = extra instanceof Readable ? extra : Readable.from([]);
  return { stdin, stdout: output, report, exit, complaintAbout, kill: () => stop('stopped') };
}

/** A tool's messages without the addresses of its objects in memory and the lists of what it was allowed. */
function readable(stderr: string): string {
  return stderr.replaceAll(/ @ 0x[0-9a-f]+/gi, '').replaceAll(/(whitelist) '[^']*'/g, '$1');
}

/** Signals that somebody sent; a file may have caused a crash (SIGSEGV, SIGABRT) or a limit (SIGXCPU). */
const SENT: ReadonlySet<NodeJS.Signals | null> = new Set([
  'SIGKILL',
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'SIGQUIT',
]);
/** The status that a shell, and with it prlimit, returns for a program that cannot be run; the loader uses the same. */
const NOT_RUN: ReadonlySet<number | null> = new Set([126, 127]);
/** No thread, file, library or disk was available. Lack of memory does not count: a file can ask for any amount. */
const STARVED =
  /Resource temporarily unavailable|Too many open files|error while loading shared libraries|No space left on device|Disk quota exceeded/;

/** How a child ended that this process did not end: a tool that was starved or killed says nothing about the media. */
function ownEnd(code: number | null, killedBy: NodeJS.Signals | null, stderr: string): ChildExit['ended'] {
  // ffmpeg ends cleanly when it is told to, and reports that.
  if (SENT.has(killedBy) || (code === 255 && stderr.includes('received signal'))) return 'killed';
  if (code === 0) return 'exit';
  return NOT_RUN.has(code) || STARVED.test(stderr) || refusedToConfine(stderr) ? 'not_started' : 'exit';
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group ended between the check and the signal.
  }
}

/** Runs a tool and collects its output; a child that writes more than `maxBytes` is stopped. */
export async function runToEnd(
  binaries: Binaries,
  command: readonly [string, ...string[]],
  options: ChildOptions,
  maxBytes: number,
): Promise<{ exit: ChildExit; stdout: Buffer }> {
  const child = startChild(binaries, command, options);
  child.stdin.end();
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) child.kill();
    else chunks.push(chunk);
  });
  const ended = new Promise<void>((resolve) => child.stdout.once('close', resolve));
  const exit = await child.exit;
  if (exit.ended !== 'not_started') await ended;
  return { exit, stdout: Buffer.concat(chunks) };
}
