import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A command that never ends must not hang a test run. */
const LIMITS = { timeout: 120_000, killSignal: 'SIGKILL', maxBuffer: 512 * 1024 * 1024 } as const;

/**
 * Runs the machine's ffmpeg. Only for making and reading test files, so without the safeguards of production code.
 * `input` goes to its standard input. Returns its standard output.
 */
export async function ffmpeg(args: readonly string[], input?: Iterable<Uint8Array>): Promise<Buffer> {
  const program = process.env['FFMPEG_BIN'] ?? 'ffmpeg';
  const silent = input === undefined ? ['-nostdin'] : [];
  const running = run(program, [...silent, '-v', 'error', '-y', ...args], { ...LIMITS, encoding: 'buffer' });
  const { stdin } = running.child;
  // If ffmpeg stops reading early, its own message says why, and that is the rejection.
  if (input !== undefined && stdin !== null)
    await pipeline(Readable.from(input), stdin).catch(() => undefined);
  return (await running).stdout;
}

/** Returns the output of the machine's ffprobe. */
export async function ffprobe(args: readonly string[]): Promise<string> {
  return (await run(process.env['FFPROBE_BIN'] ?? 'ffprobe', ['-v', 'error', ...args], LIMITS)).stdout;
}
