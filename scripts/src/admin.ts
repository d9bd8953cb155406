import { Command } from 'commander';
import { addCustomerCommands } from './admin/customers';
import { addKeyCommands, addSecretCommands } from './admin/keys';
import { addPurgeCommand } from './admin/purge';
import { addWebhookCommands } from './admin/webhooks';

/** `npm run admin -- …`: what an operator does by hand. Every command takes --json. */
const program = new Command('admin').description(
  'Customers, keys, secrets, limits, redelivery and purging. Works on DATABASE_URL, else on the local stack.',
);
for (const add of [
  addCustomerCommands,
  addKeyCommands,
  addSecretCommands,
  addWebhookCommands,
  addPurgeCommand,
])
  add(program);

program.parseAsync().catch((error: unknown) => {
  console.error(`admin: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
