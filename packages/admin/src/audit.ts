import { type AuditRow, listAudit } from '@lipsync/db';
import { type Command } from 'commander';
import { duration, print, sayJson } from './command-line';
import { type Connection } from './connect';

const WEEK_SECONDS = 7 * 86_400;

interface AuditOptions {
  since?: number;
  customer?: string;
  json?: boolean;
}

export function addAuditCommand(program: Command, connection: Connection): void {
  program
    .command('audit')
    .description('who changed what with these commands, latest last')
    .option('--since <duration>', 'how far back, such as 30m, 24h or 7d (default: 7d)', duration)
    .option('--customer <customer-id>', 'only of this customer, even if it was erased')
    .option('--json')
    .action(({ since: sinceSeconds = WEEK_SECONDS, customer: customerId, json }: AuditOptions) =>
      connection.withDatabase(async ({ db }) => {
        const rows = await listAudit(db, { sinceSeconds, customerId });
        if (json) sayJson(rows.map((row) => ({ ...named(row), details: row.details })));
        else
          print(
            rows.map((row) => ({ ...named(row), details: inWords(row.details) })),
            {},
          );
      }),
    );
}

const named = (row: AuditRow) => ({
  at: row.at,
  actor: row.actor,
  login: row.login,
  command: row.command,
  customer_id: row.customerId,
  subject_id: row.subjectId,
});

/** `get_per_minute=7 post_per_minute=default`; null if there are none. */
function inWords(details: AuditRow['details']): string | null {
  const words = Object.entries(details).map(([name, value]) => `${name}=${value ?? '-'}`);
  return words.length === 0 ? null : words.join(' ');
}
