import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { CommandError } from '../failures/exit-codes';
import type { Session } from '../session/session';

const VARIABLE = 'LIPSYNC_WEBHOOK_SECRET';
/** By contract; whatever is shorter can be guessed. */
const SECRET = /^(?:[0-9a-f]{2}){32,}$/i;

/**
 * The secrets that the user named: in a file, or else in the environment.
 * @throws CommandError for what is no secret, and if none is named
 */
export async function namedSecrets(file: string | undefined, { env }: Session): Promise<string[]> {
  const text = file === undefined ? (env[VARIABLE] ?? '') : await readFile(file, 'utf8');
  const secrets = text.split(/[\s,]+/).filter((secret) => secret !== '');
  if (secrets.length === 0)
    throw new CommandError(
      'There is no signing secret.',
      'usage',
      `Set ${VARIABLE}, or name a file with --secret-file. Your administrator has the secret of the service; lipsync webhook secret prints the one that webhook listen uses.`,
    );
  if (secrets.every((secret) => SECRET.test(secret))) return secrets;
  throw new CommandError(
    `${file ?? VARIABLE} does not hold a signing secret.`,
    'usage',
    'A secret is 64 hexadecimal digits or more. Separate two by a comma or a line break.',
  );
}

export function secretFileOption(): Option {
  return new Option(
    '--secret-file <file>',
    `a file with the signing secret; default: ${VARIABLE}, else a secret derived from your key (lipsync webhook secret)`,
  );
}

/** What events of this command are signed with, and where it comes from. */
export interface SigningSecret {
  hex: string;
  source: 'named' | 'key';
}

/**
 * The secret that the user named, or else one that belongs to the API key: always the same, never stored, and no
 * way back to the key.
 */
export async function signingSecret(file: string | undefined, session: Session): Promise<SigningSecret> {
  if (file !== undefined || session.env[VARIABLE]) {
    const [hex = ''] = await namedSecrets(file, session);
    return { hex, source: 'named' };
  }
  const { apiKey } = await session.connection();
  return { hex: createHmac('sha256', apiKey).update('lipsync webhook listen').digest('hex'), source: 'key' };
}

/** Tells the user what the receiver has to verify with. */
export function saySecret({ hex, source }: SigningSecret, session: Session): void {
  if (source === 'named') session.say('Signed with the secret that you named.');
  else session.say(`Signed with a secret derived from your key, for tests only: ${VARIABLE}=${hex}`);
}
