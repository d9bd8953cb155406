import { runAdmin } from '@lipsync/admin';

/** `node dist/admin.js …`: the operator's commands, on the database and the store that the environment names. */
void runAdmin(
  () => process.env,
  'Customers, keys, secrets, limits, renders, webhooks, purging, the bucket. Works on DATABASE_URL and S3_….',
);
