import { redeliver } from '@lipsync/db';
import type { Command } from 'commander';
import type { Connection } from './connect';
import { print } from './print';

export function addWebhookCommands(program: Command, connection: Connection): void {
  program
    .command('webhooks')
    .description('webhook events')
    .command('redeliver <event-id>')
    .description(
      'deliver an event once more: same event id and body, a new delivery when the last one is settled',
    )
    .option('--json')
    .action((eventId: string, options: { json?: boolean }) =>
      connection.withContext(async ({ db }) => {
        const delivery = await redeliver(db, eventId);
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
      }),
    );
}
