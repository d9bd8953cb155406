/** A fixed number of things, each lent to one borrower at a time. */
export interface SlotPool<Slot> {
  /** Throws when none is free: callers must not take more work than there are slots. */
  borrow(): Slot;
  giveBack(slot: Slot): void;
}

export function createSlotPool<Slot>(slots: readonly Slot[]): SlotPool<Slot> {
  const free = [...slots];

  return {
    borrow: () => {
      const slot = free.shift();
      if (slot === undefined) throw new Error(`all ${slots.length} slots are taken`);
      return slot;
    },
    giveBack: (slot) => {
      free.push(slot);
    },
  };
}
