import { purge } from '@lipsync/db';
import { environment, loadEnv } from '@lipsync/runtime';
import { createStorage, faceTrackKey, outputKey, type Storage } from '@lipsync/storage';
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
        const storage = openStorage();
        try {
          const report = await purge(db, {
            outputKey,
            trackKey: faceTrackKey,
            deleteObjects: (keys) => storage.delete(keys),
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

function openStorage(): Storage {
  const settings = loadEnv(
    environment.pick({
      S3_ENDPOINT: true,
      S3_REGION: true,
      S3_BUCKET: true,
      S3_ACCESS_KEY_ID: true,
      S3_SECRET_ACCESS_KEY: true,
      S3_FORCE_PATH_STYLE: true,
    }),
    operatorEnvironment(),
  );
  return createStorage({
    endpoint: settings.S3_ENDPOINT,
    region: settings.S3_REGION,
    bucket: settings.S3_BUCKET,
    accessKeyId: settings.S3_ACCESS_KEY_ID,
    secretAccessKey: settings.S3_SECRET_ACCESS_KEY,
    forcePathStyle: settings.S3_FORCE_PATH_STYLE,
  });
}
