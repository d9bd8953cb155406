import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

/** What nvidia-smi says of a card. Memory in MiB; null where the card does not say. */
export interface Card {
  readonly name: string;
  readonly driver: string;
  readonly memory_mib: number | null;
}

const NVIDIA_SMI = 'nvidia-smi';

/** The machine's NVIDIA cards. Rejects, with what nvidia-smi says, when there are none. */
export async function readCards(program = NVIDIA_SMI): Promise<Card[]> {
  const rows = await query(program, 'gpu', 'name', 'driver_version', 'memory.total');
  return rows.map(([name = '', driver = '', memory]) => ({ name, driver, memory_mib: mebibytes(memory) }));
}

/** The most that was seen of GPU memory, in MiB. */
export interface GpuMemory {
  /** Used by the process alone; null where nvidia-smi cannot see it, as in most containers. */
  readonly process_mib: number | null;
  /** By how much the memory in use on all cards grew, whoever uses them. */
  readonly growth_mib: number;
}

const SAMPLE_MS = 500;

/**
 * Samples GPU memory until the returned function is called, which resolves to what was seen, or null without nvidia-smi.
 * Call it before the process takes any: growth is counted from here.
 */
export function watchGpuMemory(
  pid: () => number | undefined,
  program = NVIDIA_SMI,
): () => Promise<GpuMemory | null> {
  const stopped = new AbortController();
  const seen = sample(program, pid, stopped.signal).catch(() => null);
  return () => {
    stopped.abort();
    return seen;
  };
}

async function sample(
  program: string,
  pid: () => number | undefined,
  signal: AbortSignal,
): Promise<GpuMemory> {
  const before = await memoryInUse(program);
  let processMib: number | null = null;
  let growth = 0;
  for (;;) {
    growth = Math.max(growth, (await memoryInUse(program)) - before);
    const rows = await query(program, 'compute-apps', 'pid', 'used_memory');
    const own = rows.filter(([id]) => Number(id) === pid());
    if (own.length > 0) processMib = Math.max(processMib ?? 0, sumOf(own.map(([, used]) => used)));
    if (signal.aborted) return { process_mib: processMib, growth_mib: growth };
    await setTimeout(SAMPLE_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function memoryInUse(program: string): Promise<number> {
  const rows = await query(program, 'gpu', 'memory.used');
  return sumOf(rows.map(([used]) => used));
}

function sumOf(cells: readonly (string | undefined)[]): number {
  return cells.reduce((sum, cell) => sum + (mebibytes(cell) ?? 0), 0);
}

/** It says on its ordinary output why it failed. */
type FailedCommand = Error & { readonly stdout?: string };

/** Rows of cells; see `nvidia-smi --help-query-gpu` and `--help-query-compute-apps`. */
async function query(
  program: string,
  subject: 'gpu' | 'compute-apps',
  ...fields: string[]
): Promise<string[][]> {
  const options = [`--query-${subject}=${fields.join(',')}`, '--format=csv,noheader,nounits'];
  const { stdout } = await promisify(execFile)(program, options).catch((error: FailedCommand) => {
    throw new Error(`${NVIDIA_SMI}: ${error.stdout?.trim() || error.message}`);
  });
  const lines = stdout.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => line.split(',').map((cell) => cell.trim()));
}

/** Cards without memory of their own, and some drivers, say `[N/A]`. */
function mebibytes(cell: string | undefined): number | null {
  return cell !== undefined && /^\d+$/.test(cell) ? Number(cell) : null;
}
