import { type Evidence } from './evidence';

export interface CheckResult {
  readonly id: string;
  /** What holds when it passes. */
  readonly title: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** How many things were looked at. */
  readonly examined: number;
  readonly failures: number;
  /** Some of what failed, in words. */
  readonly examples: readonly string[];
  /** What the result does not say by itself: why it was skipped, that it was a sample. */
  readonly note: string | null;
}

export interface Findings {
  readonly examined: number;
  /** In words. */
  readonly failures: readonly string[];
  /** How many there are, where several are told in one line. */
  readonly count?: number;
  /** Failures that the check lets pass; 0 unless said otherwise. */
  readonly tolerated?: number;
  readonly note?: string;
}

/** Why a check does not apply. */
export interface NotApplicable {
  readonly skipped: string;
}

export interface Check {
  readonly id: string;
  readonly title: string;
  readonly examine: (evidence: Evidence) => Findings | NotApplicable;
}

const MAX_EXAMPLES = 20;

export function runCheck({ id, title, examine }: Check, evidence: Evidence): CheckResult {
  const found = examine(evidence);
  if ('skipped' in found)
    return { id, title, state: 'skipped', examined: 0, failures: 0, examples: [], note: found.skipped };
  const { examined, failures, count = failures.length, tolerated = 0, note = null } = found;
  if (examined === 0)
    return {
      id,
      title,
      state: 'skipped',
      examined,
      failures: 0,
      examples: [],
      note: 'There was nothing to look at.',
    };
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
