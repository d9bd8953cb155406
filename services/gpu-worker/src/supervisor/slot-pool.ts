/** A fixed number of things, each lent to one borrower at a time, first come first served. */
export interface SlotPool<Slot> {
  /** Waits for a free slot. Rejects with the signal's reason when it is aborted first. */
  borrow(signal: AbortSignal): Promise<Slot>;
  giveBack(slot: Slot): void;
  readonly slots: readonly Slot[];
}

export function createSlotPool<Slot>(slots: readonly Slot[]): SlotPool<Slot> {
  const free = [...slots];
  const waiting: ((slot: Slot) => void)[] = [];

  return {
    slots,
    borrow: (signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const slot = free.shift();
        if (slot !== undefined) {
          resolve(slot);
          return;
        }
        const give = (given: Slot): void => {
          signal.removeEventListener('abort', leave);
          resolve(given);
        };
        const leave = (): void => {
          waiting.splice(waiting.indexOf(give), 1);
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
        };
        waiting.push(give);
        signal.addEventListener('abort', leave, { once: true });
      }),
    giveBack: (slot) => {
      const next = waiting.shift();
      if (next) next(slot);
      else free.push(slot);
    },
  };
}
