import { migrate } from '@lipsync/db';
import { createLogger, loadEnv, sharedSettings } from '@lipsync/runtime';

/**
 * `node dist/migrate.js`: migrates the database at DATABASE_URL to this version's schema, then exits. Safe to repeat.
 */
async function main(): Promise<void> {
  const env = loadEnv(sharedSettings.pick({ DATABASE_URL: true, LOG_LEVEL: true }), process.env);
  const logger = createLogger({ service: 'migrate', level: env.LOG_LEVEL });
  try {
    const { applied, granted } = await migrate(env.DATABASE_URL, {
      onApply: (migration) => logger.info('applying', { migration }),
      onTableBusy: (migration) => logger.warn('a table is in use, asking again', { migration }),
    });
    logger.info('migrated', { applied, granted });
  } catch (error) {
    logger.error('could not migrate', { error });
    process.exitCode = 1;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
