/** The promise was not settled in time. What it stands for may still happen. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * `work`, or a DeadlineError after `deadlineMs`. Redis clients have no deadline that covers connecting, waiting and
 * answering together, and a server that hangs would otherwise hang its callers.
 */
export async function within<T>(what: string, deadlineMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(`${what}: no answer in ${deadlineMs} ms`)), deadlineMs);
  });
  // Nobody listens to the loser of the race any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
