import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

const LIMIT = 256;

/** Runs `act` while this process has only `left` file descriptors left, and returns its result. Linux only. */
export async function withDescriptorsLeft<Result>(left: number, act: () => Promise<Result>): Promise<Result> {
  const before = limitOfDescriptors('--nofile', '--output=SOFT', '--noheadings');
  limitOfDescriptors(`--nofile=${LIMIT}:`);
  const taken: number[] = [];
  try {
    takeAll(taken);
    taken.splice(0, left).forEach((descriptor) => closeSync(descriptor));
    return await act();
  } finally {
    taken.forEach((descriptor) => closeSync(descriptor));
    limitOfDescriptors(`--nofile=${before}:`);
  }
}

function limitOfDescriptors(...args: string[]): string {
  return execFileSync('prlimit', ['--pid', String(process.pid), ...args], { encoding: 'utf8' }).trim();
}

function takeAll(taken: number[]): void {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if (!String(error).includes('EMFILE')) throw error;
  }
}
