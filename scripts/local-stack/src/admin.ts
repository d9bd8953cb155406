import { runAdmin } from '@lipsync/admin';
import { DEFAULT_STACK_ROOT } from './layout';
import { adminEnvironment } from './services';
import { readState } from './state';

/**
 * `npm run admin -- …`: the operator's commands, run against the database and store named by the environment, or
 * against this machine's local stack when it names neither. Other settings hold for both.
 */
void runAdmin(() => {
  if (process.env['DATABASE_URL'] !== undefined || process.env['S3_ENDPOINT'] !== undefined)
    return process.env;
  const state = readState(DEFAULT_STACK_ROOT);
  if (state === null)
    throw new Error('DATABASE_URL is not set, and there is no local stack (npm run stack -- up)');
  return { ...process.env, ...adminEnvironment(state) };
}, 'Manages customers, keys, secrets, limits, renders, usage, webhooks, purging, erasing, the bucket, backups and the audit log. Works on DATABASE_URL and S3_…, else on the local stack.');
