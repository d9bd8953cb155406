import { readFile, stat } from 'node:fs/promises';
import { CredentialsError, type SigningIdentity, signingIdentity } from './signing-identity';

/** The operator's certificate and key, read again when their files change. */
export interface ContentSigner {
  /** The identity to sign with now. Rejects with CredentialsError when it has expired. */
  identity(): Promise<SigningIdentity>;
}

const PEM_BEGINS = '-----BEGIN ';

/**
 * Opens a signer. `certificate` (a chain) and `key` are each PEM, or the path of a file with it. Files are looked at
 * whenever the identity is asked for: a changed pair replaces the former one if it is good; otherwise the former one stays
 * in use and `onProblem` gets the reason, once for each change. Rejects with CredentialsError when the first pair is
 * unusable.
 */
export async function openSigner(options: {
  certificate: string;
  key: string;
  onProblem: (error: CredentialsError) => void;
  now?: () => Date;
}): Promise<ContentSigner> {
  const { certificate, key, onProblem, now = () => new Date() } = options;
  const read = async (): Promise<SigningIdentity> =>
    signingIdentity(await pemOf(certificate), await pemOf(key), now());
  const state = (): Promise<string> => Promise.all([certificate, key].map(stateOf)).then((all) => all.join());
  let seen = await state();
  let current = await read();
  const renew = async (): Promise<void> => {
    const latest = await state();
    if (latest === seen) return;
    seen = latest;
    try {
      current = await read();
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error;
      onProblem(error);
    }
  };

  let renewal = Promise.resolve();
  return {
    identity: async () => {
      // One after the other: a caller that asks while a new pair is read must not get the old one.
      const mine = renewal.then(renew);
      renewal = mine.catch(() => undefined);
      await mine;
      if (now() > current.expiresAt)
        throw new CredentialsError(`the certificate expired at ${current.expiresAt.toISOString()}`);
      return current;
    },
  };
}

async function pemOf(setting: string): Promise<string> {
  // Environment files hold one line for each variable.
  if (setting.startsWith(PEM_BEGINS)) return setting.replaceAll('\\n', '\n');
  try {
    return await readFile(setting, 'utf8');
  } catch (error) {
    throw new CredentialsError(`${setting} cannot be read`, { cause: error });
  }
}

/** Differs after a file was replaced or written. A mounted secret is replaced by a link to another file. */
async function stateOf(setting: string): Promise<string> {
  if (setting.startsWith(PEM_BEGINS)) return '';
  const found = await stat(setting).catch(() => null);
  return found === null ? 'none' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}
