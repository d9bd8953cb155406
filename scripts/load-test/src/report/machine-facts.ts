import { cpus, release, totalmem, type } from 'node:os';
import { type MachineFacts } from './report';

/** The machine that the figures were measured on. */
export function machineFacts(sharedWithService: boolean): MachineFacts {
  return {
    shared_with_service: sharedWithService,
    os: `${type()} ${release()}`,
    node: process.version,
    cpu: cpus()[0]?.model ?? null,
    cpus: cpus().length,
    memory_gib: Number((totalmem() / 2 ** 30).toFixed(1)),
  };
}
