/** Future events ordered by time; events at equal times keep the order in which they were scheduled. */
export interface EventQueue {
  /** Simulated time in seconds. */
  readonly now: () => number;
  at(seconds: number, action: () => void): void;
  /** Runs all events until none are left. */
  run(): void;
}

interface Planned {
  readonly seconds: number;
  readonly order: number;
  readonly action: () => void;
}

/** A binary heap with a clock. */
export function createEventQueue(): EventQueue {
  const heap: Planned[] = [];
  let now = 0;
  let planned = 0;

  function push(event: Planned): void {
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent])) break;
      swap(at, parent);
      at = parent;
    }
  }

  function pop(): Planned | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    heap[0] = last;
    let at = 0;
    for (;;) {
      let smallest = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        const candidate = heap[child];
        if (candidate !== undefined && isBefore(candidate, heap[smallest])) smallest = child;
      }
      if (smallest === at) return first;
      swap(at, smallest);
      at = smallest;
    }
  }

  function swap(a: number, b: number): void {
    const [left, right] = [heap[a], heap[b]];
    if (left === undefined || right === undefined) return;
    heap[a] = right;
    heap[b] = left;
  }

  return {
    now: () => now,
    at: (seconds, action) => push({ seconds: Math.max(seconds, now), order: planned++, action }),
    run: () => {
      for (let event = pop(); event !== undefined; event = pop()) {
        now = event.seconds;
        event.action();
      }
    },
  };
}

function isBefore(a: Planned, b: Planned | undefined): boolean {
  return b === undefined || a.seconds < b.seconds || (a.seconds === b.seconds && a.order < b.order);
}
