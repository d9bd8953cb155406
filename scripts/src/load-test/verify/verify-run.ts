import { type AnswerTally } from '../measure/answer-tally';
import { type CheckResult } from './check';
import { runChecks } from './checks';
import { type CollectOptions, collectEvidence } from './collect-evidence';

export interface VerifyOptions extends CollectOptions {
  readonly answers: { readonly ofCallers: AnswerTally; readonly beforeAndAfter: AnswerTally };
  /** Creates whose answer was lost and that a replay could not settle, in words. */
  readonly unsettled: readonly string[];
}

/** Asks once more for what the run has left behind, and holds all that was seen to the checks. */
export async function verifyRun(options: VerifyOptions): Promise<CheckResult[]> {
  const { answers, ledger, webhooks, config, unsettled } = options;
  const { deliveries, ...collected } = await collectEvidence(options);
  return runChecks({
    ...collected,
    renders: [...ledger.renders()],
    requests: {
      ofCallers: answers.ofCallers.counts(),
      // What was asked just now is among them.
      beforeAndAfter: answers.beforeAndAfter.counts(),
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
