import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What nvidia-smi says of a card. Memory in MiB; null where the card does not say. */
export interface Card {
  readonly name: string;
  readonly driver: string;
  readonly memory_mib: number | null;
}

export const NVIDIA_SMI = 'nvidia-smi';

/** The machine's NVIDIA cards. Rejects, with what nvidia-smi says, when there are none. */
export async function readCards(program = NVIDIA_SMI): Promise<Card[]> {
  const rows = await queryCards(program, 'gpu', 'name', 'driver_version', 'memory.total');
  return rows.map(([name = '', driver = '', memory]) => ({ name, driver, memory_mib: mebibytes(memory) }));
}

/** It says on its ordinary output why it failed. */
type FailedCommand = Error & { readonly stdout?: string };

/** Rows of cells; see `nvidia-smi --help-query-gpu` and `--help-query-compute-apps`. */
export async function queryCards(
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
export function mebibytes(cell: string | undefined): number | null {
  return cell !== undefined && /^\d+$/.test(cell) ? Number(cell) : null;
}
