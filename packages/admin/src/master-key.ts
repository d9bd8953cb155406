import type { Command } from 'commander';
import type { Connection } from './connect';
import { print } from './print';
import { resealSecrets } from './reseal-secrets';

export function addMasterKeyCommands(program: Command, connection: Connection): void {
  program
    .command('master-key')
    .description('the key under which webhook secrets are stored')
    .command('rotate')
    .description(
      'encrypt what is under MASTER_KEY_PREVIOUS under MASTER_KEY; fails while a secret opens with neither',
    )
    .option('--json')
    .action((options: { json?: boolean }) =>
      connection.withContext(async (context) => {
        const { resealed, current, unreadable } = await resealSecrets(context);
        print({ resealed, current, unreadable: unreadable.length }, options);
        for (const id of unreadable) process.stderr.write(`admin: ${id} opens with neither key\n`);
        if (unreadable.length > 0) process.exitCode = 1;
      }),
    );
}
