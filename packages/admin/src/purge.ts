import { purge } from '@lipsync/db';
import { assetPrefix, featureKey, outputKey } from '@lipsync/storage';
import type { Command } from 'commander';
import type { Connection } from './connect';
import { print } from './print';

export function addPurgeCommand(program: Command, connection: Connection): void {
  program
    .command('purge')
    .description(
      'delete what has expired now, as the media workers do by themselves; never touches what is in use',
    )
    .option('--json')
    .action((options: { json?: boolean }) =>
      connection.withContext(({ db }) =>
        connection.withStorage(async (storage) => {
          const report = await purge(db, { storage, keys: { outputKey, assetPrefix, featureKey } });
          for (const error of report.errors) process.stderr.write(`admin: ${String(error)}\n`);
          if (report.errors.length > 0) process.exitCode = 1;
          print(
            { purged: report.purged, deleted_rows: report.deletedRows, failures: report.errors.length },
            options,
          );
        }),
      ),
    );
}
