import { cpus } from 'node:os';

export interface Machine {
  node: string;
  cpus: number;
  cpu: string | undefined;
}

/** What the seconds of a bench are of; its ratios are what travels. */
export function machine(): Machine {
  return { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model };
}
