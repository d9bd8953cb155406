import { readFile, stat } from 'node:fs/promises';
import { type Credentials, readCredentials } from '@lipsync/credentials-reader';
import type { Command } from 'commander';
import { CommandError } from './failures/exit-codes';
import type { Session } from './session/session';

/** The file is checked in memory. Outputs of the service are smaller. */
const BYTES_MAX = 1024 ** 3;

export function addVerifyCommand(program: Command, session: Session): void {
  program
    .command('verify <file>')
    .description(
      'check that an MP4 is unchanged since it was signed, and show its content credentials (C2PA)',
    )
    .option('--trust <file>', 'PEM file of the authorities, one of which must vouch for the signer')
    .action(async (file: string, { trust }: { trust?: string }) => {
      const authorities = trust === undefined ? undefined : await readFile(trust, 'utf8');
      if ((await stat(file)).size > BYTES_MAX)
        throw new CommandError(`${file} is larger than 1 GiB, the most that this command checks.`, 'usage');
      const library = await readFile(require.resolve('@contentauth/c2pa-wasm/c2pa.wasm'));
      const found = await readCredentials(library, await readFile(file), authorities);
      session.answer({ file, ...(found ?? { state: 'none' }) }, found === null ? [] : describe(found, trust));
      const wrong = whatIsWrong(file, found, trust);
      if (wrong !== null) throw new CommandError(wrong, 'failed');
    });
}

function whatIsWrong(file: string, found: Credentials | null, trust: string | undefined): string | null {
  if (found === null) return `${file} carries no content credentials.`;
  if (found.state === 'invalid')
    return `${file} was changed after it was signed, or is not an MP4: ${found.problems.join(', ')}`;
  if (trust !== undefined && found.state !== 'trusted')
    return `${file} is unchanged since it was signed, but no authority in ${trust} vouches for the signer.`;
  return null;
}

/** Nothing of what a changed file says of itself is repeated. */
function describe({ state, signer, generator, actions, ingredients }: Credentials, trust?: string): string[] {
  if (state === 'invalid' || (trust !== undefined && state !== 'trusted')) return [];
  const doubt = state === 'trusted' ? '' : ', a name that nobody has vouched for (--trust)';
  return [
    'The file is unchanged since it was signed.',
    `signed by  ${[signer.name, signer.organization].filter(Boolean).join(', ')}${doubt}`,
    `made by    ${generator}`,
    ...ingredients.map(
      ({ title, sha256, has_credentials: own }) =>
        `from       ${title}${sha256 === undefined ? '' : ` ${sha256}`}${own ? ', with credentials of its own' : ''}`,
    ),
    ...actions.map(
      ({ action, agent, source_type: type, when }) =>
        `${action.padEnd(10)} ${[when, agent, type].filter(Boolean).join(', ')}`,
    ),
  ];
}
