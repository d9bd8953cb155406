import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '@lipsync/testkit';
import type { Stack } from './local-stack';
import { withLock } from './lock';

/** What becomes of the stack when its last user leaves: each user's file holds one of the two. */
const STOP = 'stop';
const KEEP = 'keep';

/**
 * Registers this process as a user of the stack, before it starts what does not run. Several may use a stack at once;
 * the last one to leave stops it, if the first one found it down and none asked to keep it.
 * @returns whether the stack was up, and `leave`, to be called once
 */
export async function joinStack(
  stack: Stack,
  { keep }: { keep: boolean },
): Promise<{ wasUp: boolean; leave: () => Promise<void> }> {
  const folder = path.join(stack.layout.root, 'users');
  const own = path.join(folder, String(process.pid));
  // A process that was killed leaves its file behind.
  const others = (): string[] =>
    readdirSync(folder)
      .map((name) => path.join(folder, name))
      .filter((file) => file !== own && isAlive(Number(path.basename(file))));
  const isToStop = (file: string): boolean => readFileSync(file, 'utf8') === STOP;

  return withLock(stack.layout.lockFile, async () => {
    mkdirSync(folder, { recursive: true });
    const wasUp = stack.describe()?.services.some(({ pid }) => pid !== null) ?? false;
    writeFileSync(own, !keep && (!wasUp || others().some(isToStop)) ? STOP : KEEP);
    if (keep) for (const file of others()) writeFileSync(file, KEEP);
    return {
      wasUp,
      leave: () =>
        stack.down(() => {
          const stops = isToStop(own);
          rmSync(own);
          return stops && others().length === 0;
        }),
    };
  });
}
