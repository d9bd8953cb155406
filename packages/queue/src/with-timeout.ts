/** The promise was not settled in time. What it stands for may still happen. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * A deadline is counted in so many parts, one after the other: when this process itself stood still for longer than the
 * deadline, only one of them has gone by, and the server still has the others for its answer.
 */
const PARTS = 3;

/**
 * `work`, or a DeadlineError after `deadlineMs`. Redis clients have no deadline that covers connecting, waiting and
 * answering together, and a server that hangs would otherwise hang its callers.
 */
export async function withTimeout<T>(what: string, deadlineMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new DeadlineError(`${what}: no answer in ${deadlineMs} ms`));
    const count = (parts: number) => {
      timer = setTimeout(() => {
        if (parts > 1) count(parts - 1);
        // Timers run before sockets are read: the answer may have been here for long.
        else turn = setImmediate(giveUp);
      }, deadlineMs / PARTS);
    };
    count(PARTS);
  });
  // Nobody listens to the loser of the race any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
    clearImmediate(turn);
  }
}
