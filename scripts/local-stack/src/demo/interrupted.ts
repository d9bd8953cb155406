/** The terminal or the system asked this process to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(readonly signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
  }
}

/**
 * Resolves to the work's result, or rejects when SIGINT or SIGTERM comes first, so that the caller can clean up. The
 * work itself continues until the process exits; a second signal ends the process at once.
 * @throws Interrupted.
 */
export async function untilInterrupted<T>(work: Promise<T>): Promise<T> {
  let interrupt: ((signal: NodeJS.Signals) => void) | undefined;
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = (signal) => reject(new Interrupted(signal));
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  });
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    if (interrupt !== undefined) process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
