import { cpus } from 'node:os';

export interface Machine {
  node: string;
  cpus: number;
  cpu: string | undefined;
}

/** The machine that a benchmark's seconds refer to; only its ratios carry over to others. */
export function machine(): Machine {
  return { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model };
}
