import { type CheckResult, runCheck } from './check';
import { type Evidence } from './evidence';
import { RENDER_CHECKS } from './render-checks';
import { REQUEST_CHECKS } from './request-checks';
import { WEBHOOK_CHECKS } from './webhook-checks';

/** Every check, in the order of the report. */
export const CHECKS = [...REQUEST_CHECKS, ...RENDER_CHECKS, ...WEBHOOK_CHECKS];

export function runChecks(evidence: Evidence): CheckResult[] {
  return CHECKS.map((check) => runCheck(check, evidence));
}
