import { type Clock } from '../arrivals/clock';
import { type Customer } from '../customer';
import { type Ledger, type SentCreate } from '../renders/ledger';
import { type WebhookSink } from '../target/target';
import { ask } from './ask';
import { inParallel } from './in-parallel';

const EVERY_MS = 250;
const CANCEL_WIDTH = 8;

export interface DrainOptions {
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
