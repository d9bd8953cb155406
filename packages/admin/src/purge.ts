import { purge, recordAct } from '@lipsync/db';
import { assetPrefix, featureKey, outputKey } from '@lipsync/storage';
import type { Command } from 'commander';
import { complain, print } from './command-line';
import type { Connection } from './connect';

export function addPurgeCommand(program: Command, connection: Connection): void {
  program
    .command('purge')
    .description('delete expired data now, as media workers regularly do; never touches what is in use')
    .option('--json')
    .action((options: { json?: boolean }) =>
      connection.withDatabase(({ db, act }) =>
        connection.withStorage(async (storage) => {
          const { USAGE_RETENTION_MONTHS: usageMonths } = connection.usageSettings();
          // Many transactions and deletions follow: it is on record that it was begun.
          await recordAct(db, db.prisma, act);
          const total = { purged: 0, deleted_rows: 0, failures: 0 };
          let more = true;
          while (more) {
            const round = await purge(db, {
              storage,
              keys: { outputKey, assetPrefix, featureKey },
              usageMonths,
            });
            for (const error of round.errors) complain(String(error));
            total.purged += round.purged;
            total.deleted_rows += round.deletedRows;
            total.failures += round.errors.length;
            more = round.more && round.errors.length === 0;
          }
          if (total.failures > 0) process.exitCode = 1;
          print(total, options);
        }),
      ),
    );
}
