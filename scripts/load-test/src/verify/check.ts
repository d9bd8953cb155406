import { type CheckResult } from '../report/report';
import { type Evidence } from './evidence';

interface Findings {
  readonly examined: number;
  /** Descriptions. */
  readonly failures: readonly string[];
  /** Number of failures, when a description covers several. */
  readonly count?: number;
  /** Number of failures that the check tolerates; default 0. */
  readonly tolerated?: number;
  readonly note?: string;
}

/** What a check found, or why it does not apply. */
export type Examined = Findings | { readonly skipped: string };

export interface Check {
  readonly id: string;
  readonly title: string;
  readonly examine: (evidence: Evidence) => Examined;
}

/** How many failures of a check the report describes. */
const MAX_EXAMPLES = 20;

export function runCheck({ id, title, examine }: Check, evidence: Evidence): CheckResult {
  const skipped = { id, title, state: 'skipped', examined: 0, failures: 0, examples: [] } as const;
  const found = examine(evidence);
  if ('skipped' in found) return { ...skipped, note: found.skipped };
  const { examined, failures, count = failures.length, tolerated = 0, note = null } = found;
  if (examined === 0) return { ...skipped, note: 'There was nothing to look at.' };
  const isFailed = count > tolerated;
  return {
    id,
    title,
    state: isFailed ? 'failed' : 'passed',
    examined,
    failures: count,
    examples: isFailed ? failures.slice(0, MAX_EXAMPLES) : [],
    note,
  };
}
