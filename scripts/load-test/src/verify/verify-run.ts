import { type AnswerTally } from '../measure/answer-tally';
import { type CheckResult } from './check';
import { runChecks } from './checks';
import { collectEvidence, type CollectOptions } from './collect-evidence';

export interface VerifyOptions extends CollectOptions {
  readonly answers: { readonly ofCallers: AnswerTally; readonly beforeAndAfter: AnswerTally };
  /** Descriptions of creates whose response was lost and that a replay could not settle. */
  readonly unsettled: readonly string[];
}

/** Fetches the final state of what the run has left behind, and runs all checks. */
export async function verifyRun(options: VerifyOptions): Promise<CheckResult[]> {
  const { answers, ledger, webhooks, config, unsettled } = options;
  const { deliveries, ...collected } = await collectEvidence(options);
  return runChecks({
    ...collected,
    renders: [...ledger.renders()],
    requests: {
      ofCallers: answers.ofCallers.counts(),
      // Includes the requests just made.
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
