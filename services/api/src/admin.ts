import { runAdmin } from '@lipsync/admin';

/** `node dist/admin.js …`: the operator's commands, run against the database and store named by the environment. */
void runAdmin(
  () => process.env,
  'Manages customers, keys, secrets, limits, renders, usage, webhooks, purging, erasing, the bucket, backups and the audit log. Works on DATABASE_URL and S3_….',
);
