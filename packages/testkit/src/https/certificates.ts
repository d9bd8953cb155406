import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { generate } from 'selfsigned';

/** A certificate and its private key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** A certificate authority of one test run or local stack. Clients that get `cert` trust what it signs. */
export interface CertificateAuthority {
  cert: string;
  key: string;
  /** Issues a server certificate for exactly these DNS names and IP addresses. */
  issue(hostnames: readonly string[]): Promise<KeyPair>;
}

const KEY = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;
/** Clocks of containers differ slightly, and a certificate from the future would be refused. */
const BACKDATE_MS = 60 * 60 * 1000;

/** Creates an authority, without any external program. To reuse one, pass its `cert` and `key`. */
export async function createCertificateAuthority(existing?: KeyPair): Promise<CertificateAuthority> {
  const authority = existing ?? (await createRoot());
  return { ...authority, issue: (hostnames) => issue(authority, hostnames) };
}

async function createRoot(): Promise<KeyPair> {
  // TLS finds an issuer by its name, so two trusted roots with the same name would be confused.
  const name = `Local development authority ${randomUUID()}`;
  const made = await generate([{ name: 'commonName', value: name }], {
    ...KEY,
    notBeforeDate: new Date(Date.now() - BACKDATE_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
}

async function issue(authority: KeyPair, hostnames: readonly string[]): Promise<KeyPair> {
  const made = await generate([{ name: 'commonName', value: hostnames[0] ?? 'localhost' }], {
    ...KEY,
    notBeforeDate: new Date(Date.now() - BACKDATE_MS),
    ca: { cert: authority.cert, key: authority.key },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: hostnames.map((name) =>
          isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name },
        ),
      },
    ],
  });
  return { cert: made.cert, key: made.private };
}
