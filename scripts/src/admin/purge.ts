import { purge } from '@lipsync/db';
import { environment, loadEnv, STORAGE_SETTINGS } from '@lipsync/runtime';
import { assetPrefix, featureKey, openStorage, outputKey } from '@lipsync/storage';
import type { Command } from 'commander';
import { operatorEnvironment, withAdminContext } from './connect';
import { print } from './print';

export function addPurgeCommand(program: Command): void {
  program
    .command('purge')
    .description(
      'delete what has expired now, as the media workers do by themselves; never touches what is in use',
    )
    .option('--json')
    .action((options: { json?: boolean }) =>
      withAdminContext(async ({ db }) => {
        const storage = openStorage(loadEnv(environment.pick(STORAGE_SETTINGS), operatorEnvironment()));
        try {
          const report = await purge(db, {
            storage,
            keys: { outputKey, assetPrefix, featureKey },
          });
          for (const error of report.errors) console.error('admin:', error);
          if (report.errors.length > 0) process.exitCode = 1;
          print(
            { purged: report.purged, deleted_rows: report.deletedRows, failures: report.errors.length },
            options,
          );
        } finally {
          storage.close();
        }
      }),
    );
}
