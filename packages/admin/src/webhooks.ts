import {
  type Act,
  type Db,
  type FailedDelivery,
  type FailureSearch,
  findFailedEvents,
  listFailedDeliveries,
  redeliver,
} from '@lipsync/db';
import { isServiceError } from '@lipsync/domain';
import { type Command } from 'commander';
import { complain, duration, LIST_MAX, print, type Row } from './command-line';
import { type Connection, requireCustomer } from './connect';

interface JsonOption {
  json?: boolean;
}

interface CustomerOption {
  customer?: string;
}

interface RedeliverOptions extends JsonOption, CustomerOption {
  failedSince?: number;
}

const DAY_SECONDS = 86_400;

export function addWebhookCommands(program: Command, connection: Connection): void {
  const webhooks = program.command('webhooks').description('webhook events');

  webhooks
    .command('failed')
    .description(
      `deliveries that were given up and not redelivered since: the latest ${LIST_MAX}, latest first`,
    )
    .option('--customer <customer-id>', 'only of this customer')
    .option('--since <duration>', 'how far back, such as 30m, 24h or 7d (default: 24h)', duration)
    .option('--json')
    .action(({ customer, since = DAY_SECONDS, json }: JsonOption & CustomerOption & { since?: number }) =>
      connection.withDatabase(async ({ db }) => {
        await requireCustomer(db, customer);
        const search = { sinceSeconds: since, customerId: customer, limit: LIST_MAX };
        const { deliveries, leftOut } = await listFailedDeliveries(db, search);
        print(deliveries.map(row), { json });
        if (leftOut > 0) complain(`${leftOut} earlier ones are not shown`);
      }),
    );

  webhooks
    .command('redeliver [event-id]')
    .description(
      'deliver an event, or all that failed, once more: same event id and body, and a new delivery if the last one has ended',
    )
    .option(
      '--failed-since <duration>',
      'every event given up within this time, such as 30m, 24h or 7d',
      duration,
    )
    .option('--customer <customer-id>', 'with --failed-since: only of this customer')
    .option('--json')
    .action((eventId: string | undefined, options: RedeliverOptions) =>
      connection.withDatabase(async ({ db, act }) => {
        const { failedSince, customer, json } = options;
        if (eventId !== undefined && failedSince === undefined && customer === undefined)
          return redeliverOne(db, act, eventId, { json });
        if (eventId !== undefined || failedSince === undefined)
          throw new Error(
            'redeliver takes either the id of an event or --failed-since, with or without --customer',
          );
        await requireCustomer(db, customer);
        const report = await redeliverFailed(db, act, { sinceSeconds: failedSince, customerId: customer });
        print({ redelivered: report.redelivered, expired: report.expired.length }, { json });
        for (const id of report.expired) complain(`${id} has expired`);
        if (report.expired.length > 0) process.exitCode = 1;
      }),
    );
}

async function redeliverOne(
  db: Db,
  act: Act,
  eventId: string,
  options: { json?: boolean | undefined },
): Promise<void> {
  const delivery = await redeliver(db, act, eventId);
  if (delivery === null) throw new Error(`there is no event ${eventId}`);
  print(
    {
      event_id: eventId,
      delivery_id: delivery.id,
      status: delivery.status,
      next_attempt_at: delivery.nextAttemptAt,
    },
    options,
  );
}

function row(delivery: FailedDelivery): Row {
  return {
    delivery_id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type,
    customer_id: delivery.customerId,
    origin: delivery.origin,
    attempts: delivery.attempts,
    last_error: delivery.lastError,
    http_status: delivery.lastHttpStatus,
    failed_at: delivery.failedAt,
    expires_at: delivery.expiresAt,
  };
}

interface RedeliveryReport {
  redelivered: number;
  /** Ids of events that have expired and cannot be delivered any more. */
  expired: string[];
}

/**
 * Redelivers, one by one, every event whose latest delivery has failed. May be interrupted and repeated, because a
 * redelivered event no longer counts as failed. Stops at any failure other than an expired event.
 */
async function redeliverFailed(db: Db, act: Act, search: FailureSearch): Promise<RedeliveryReport> {
  const report: RedeliveryReport = { redelivered: 0, expired: [] };
  for (const eventId of await findFailedEvents(db, search)) {
    try {
      // Null: purged since the search, so it must have expired.
      if ((await redeliver(db, act, eventId)) === null) report.expired.push(eventId);
      else report.redelivered += 1;
    } catch (error) {
      if (!isServiceError(error) || error.code !== 'webhook_event_expired') throw error;
      report.expired.push(eventId);
    }
  }
  return report;
}
