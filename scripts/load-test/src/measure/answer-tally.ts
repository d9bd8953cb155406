import { FAILURE_CLASSES, type Outcome } from './outcome';

/** One kind of error response and its count. */
export interface ErrorCount {
  readonly operation: string;
  readonly outcome: Outcome;
  readonly count: number;
}

export interface AnswerCounts {
  readonly total: number;
  readonly failed: number;
  /** In descending order of count. */
  readonly errors: readonly ErrorCount[];
}

export interface AnswerTally {
  readonly request: (answered: { readonly operation: string; readonly outcome: Outcome }) => void;
  readonly counts: () => AnswerCounts;
}

/** Counts the outcomes of requests, in memory that depends only on the number of different errors. */
export function createAnswerTally(): AnswerTally {
  const errors = new Map<string, ErrorCount>();
  let total = 0;
  let failed = 0;
  return {
    request: ({ operation, outcome }) => {
      total++;
      if (FAILURE_CLASSES.has(outcome.class)) failed++;
      if (outcome.class === 'success') return;
      const key = JSON.stringify([operation, outcome]);
      errors.set(key, { operation, outcome, count: (errors.get(key)?.count ?? 0) + 1 });
    },
    counts: () => ({
      total,
      failed,
      errors: [...errors.values()].sort((a, b) => b.count - a.count),
    }),
  };
}
