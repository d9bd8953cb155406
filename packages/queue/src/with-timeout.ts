/** The promise did not settle in time. Its work may still finish. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * The deadline is counted in this many successive timers. If this process itself was suspended for longer than the
 * deadline, only one of them has elapsed, and the server still has the others to answer.
 */
const PARTS = 3;

/**
 * Settles like `work`, or rejects with a DeadlineError after `deadlineMs`. Redis clients have no timeout that covers
 * connecting, waiting and answering together, and a server that hangs would otherwise hang its callers.
 */
export async function withTimeout<T>(what: string, deadlineMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new DeadlineError(`${what}: no answer in ${deadlineMs} ms`));
    const count = (parts: number) => {
      timer = setTimeout(() => {
        if (parts > 1) count(parts - 1);
        // Timers run before sockets are read, so the answer may have been here for long.
        else turn = setImmediate(giveUp);
      }, deadlineMs / PARTS);
    };
    count(PARTS);
  });
  // Nobody handles the loser of the race any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
    clearImmediate(turn);
  }
}
