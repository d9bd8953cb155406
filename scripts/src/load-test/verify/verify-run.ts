import { type Recorder } from '../measure/recorder';
import { type CheckResult } from './check';
import { runChecks } from './checks';
import { type CollectOptions, collectEvidence } from './collect-evidence';

export interface VerifyOptions extends CollectOptions {
  readonly recorder: Recorder;
  /** Creates whose answer was lost and that a replay could not settle, in words. */
  readonly unsettled: readonly string[];
}

/** Asks once more for what the run has left behind, and holds all that was seen to the checks. */
export async function verifyRun(options: VerifyOptions): Promise<CheckResult[]> {
  const { recorder, ledger, webhooks, config, unsettled } = options;
  const { deliveries, ...collected } = await collectEvidence(options);
  const operations = [...recorder.operations.values()];
  return runChecks({
    ...collected,
    renders: [...ledger.renders()],
    requests: {
      total: operations.reduce((sum, { requests }) => sum + requests, 0),
      failed: operations.reduce((sum, { failed }) => sum + failed, 0),
      errors: recorder.errors(),
    },
    replays: {
      count: ledger.replays,
      unmarked: ledger.unmarkedReplays,
      mismatches: ledger.mismatches,
    },
    lostAnswers: { count: ledger.unansweredCreates.length, unsettled },
    webhooks: webhooks && {
      events: [...webhooks.log.events.values()],
      verifiesSignatures: webhooks.verifiesSignatures,
      forgedAttempts: webhooks.log.forgedAttempts,
      malformedAttempts: webhooks.log.malformedAttempts,
      deliveries,
    },
    maxFailureRatio: config.maxFailureRatio,
    drainSeconds: config.drainSeconds,
  });
}
