import { median } from '@lipsync/local-stack';
import { type KernelAlternative } from './kernel-alternative';

const ROUNDS = 7;
const CALLS_PER_ROUND = 60;

export interface KernelTimes {
  crop_ms: number;
  paste_ms: number;
}

/** Milliseconds of processor time per frame. */
export async function timed(kernels: KernelAlternative): Promise<KernelTimes> {
  return { crop_ms: await perCall(() => kernels.crop()), paste_ms: await perCall(() => kernels.paste()) };
}

/**
 * Milliseconds of processor time, which other work on the machine disturbs less than wall time; median over the rounds.
 * The first round warms up and is not counted.
 */
export async function perCall(call: () => void | Promise<void>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < CALLS_PER_ROUND; i++) await call();
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / 1000 / CALLS_PER_ROUND);
  }
  return median(rounds.slice(1));
}
