import { type Customer } from '../callers/journeys';
import { type Clock } from '../callers/open-loop';
import { ask } from '../callers/service-client';
import { type CheckResult } from '../report/report';
import { type WebhookSink } from '../target/load-target';
import { type Ledger, type SentCreate } from '../track/ledger';
import { type AnswerTally } from '../track/outcome';
import { runChecks } from './checks';
import { collectEvidence, type CollectOptions, inParallel } from './evidence';

interface VerifyOptions extends CollectOptions {
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

const EVERY_MS = 250;
const CANCEL_WIDTH = 8;

interface DrainOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly webhooks: WebhookSink | null;
  readonly deadline: number;
  readonly onWaiting: (open: number, unannounced: number) => void;
}

/** Waits until every accepted render has ended and every event has been acknowledged, or the deadline has passed. */
export async function drain({ clock, ledger, webhooks, deadline, onWaiting }: DrainOptions): Promise<void> {
  for (;;) {
    const unannounced = webhooks === null ? 0 : countUnannounced(ledger, webhooks);
    if (ledger.open === 0 && unannounced === 0) return;
    if (clock.now() >= deadline) return;
    onWaiting(ledger.open, unannounced);
    await clock.until(Math.min(deadline, clock.now() + EVERY_MS));
  }
}

function countUnannounced(ledger: Ledger, { log }: WebhookSink): number {
  let count = 0;
  for (const { id, announcedTo } of ledger.renders())
    if (announcedTo !== null && !log.eventsOf(id).some(({ acknowledged }) => acknowledged)) count++;
  return count;
}

/**
 * Cancels renders whose cancellation was refused or got no response: nobody needs their results. Those that still
 * cannot be cancelled are left to end on their own.
 */
export async function cancelLeftOvers(
  { clock, ledger, deadline }: Pick<DrainOptions, 'clock' | 'ledger' | 'deadline'>,
  customers: readonly Customer[],
): Promise<void> {
  const leftOver = [...ledger.renders()].filter(({ purpose, end }) => purpose === 'cancel' && end === null);
  await inParallel(leftOver, CANCEL_WIDTH, async ({ id, customer }) => {
    const client = customers[customer]?.client;
    if (client === undefined) return;
    const { body, sentAt, answeredAt } = await ask({ client, clock, deadline }, 'cancel_render', {
      id,
      // It may have ended since it was last seen.
      expected: ['render_not_cancellable'],
    });
    if (body !== null) ledger.observed(body, sentAt, answeredAt);
  });
}

/**
 * Repeats each create whose response was lost, with its key: the response is the render that it created, or creates
 * now. Returns descriptions of those that could not be settled.
 */
export async function settleLostAnswers(
  { clock, ledger, deadline }: Pick<DrainOptions, 'clock' | 'ledger' | 'deadline'>,
  customers: readonly Customer[],
): Promise<string[]> {
  const unsettled: string[] = [];
  const settle = async (create: SentCreate): Promise<void> => {
    const client = customers[create.customer]?.client;
    if (client === undefined) return;
    const { body, outcome, sentAt, answeredAt } = await ask({ client, clock, deadline }, 'create_render', {
      body: create.request,
      idempotencyKey: create.idempotencyKey,
    });
    if (body === null)
      unsettled.push(
        `${create.idempotencyKey}: ${outcome.status ?? ''} ${outcome.code ?? 'no answer'}`.trim(),
      );
    else ledger.accepted(create, body, sentAt, answeredAt);
  };
  // In sequence: parallel requests would not help a service in trouble.
  for (const create of ledger.unansweredCreates) await settle(create);
  return unsettled;
}
