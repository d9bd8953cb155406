import { listSecrets, replaceCiphertext } from '@lipsync/db';
import { SecretBoxError } from '@lipsync/runtime';
import { type Command } from 'commander';
import { complain, print } from './command-line';
import { type Connection, type SecretContext } from './connect';

export function addMasterKeyCommands(program: Command, connection: Connection): void {
  program
    .command('master-key')
    .description('the key that encrypts webhook secrets')
    .command('rotate')
    .description(
      're-encrypt with MASTER_KEY what is still encrypted with MASTER_KEY_PREVIOUS; fails if neither opens a secret',
    )
    .option('--json')
    .action((options: { json?: boolean }) =>
      connection.withSecretBox(async (context) => {
        const { resealed, current, unreadable } = await resealSecrets(context);
        print({ resealed, current, unreadable: unreadable.length }, options);
        for (const id of unreadable) complain(`${id} opens with neither key`);
        if (unreadable.length > 0) process.exitCode = 1;
      }),
    );
}

interface ResealReport {
  /** Secrets that were moved to the present key. */
  resealed: number;
  /** Secrets that used the present key already. */
  current: number;
  /** Ids of secrets that neither key can open. */
  unreadable: string[];
}

const PAGE = 500;

/**
 * Encrypts every stored secret with the present master key. May be interrupted and repeated, and may run while
 * customers are created and secrets rotated, because those use the present key already.
 */
export async function resealSecrets({ db, secretBox, act }: SecretContext): Promise<ResealReport> {
  const report: ResealReport = { resealed: 0, current: 0, unreadable: [] };
  let afterId = '';
  for (;;) {
    const page = await listSecrets(db, { afterId, limit: PAGE });
    for (const secret of page) {
      afterId = secret.id;
      try {
        const replacement = secretBox.reseal(secret.ciphertext, secret.customerId);
        if (replacement === null) report.current += 1;
        else if (await replaceCiphertext(db, act, secret, replacement)) report.resealed += 1;
      } catch (error) {
        if (!(error instanceof SecretBoxError)) throw error;
        report.unreadable.push(secret.id);
      }
    }
    if (page.length < PAGE) return report;
  }
}
