import { randomBytes, webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** What `createSigningCertificate` makes, PEM. */
export interface SigningCertificate {
  /** The certificate, then that of its authority. */
  readonly chain: string;
  readonly key: string;
  readonly authority: string;
}

/** Kinds of keys that C2PA allows, by the names of its algorithms. */
const KEYS = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  ES512: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
  PS256: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 2048,
  },
  Ed25519: { name: 'Ed25519' },
};

/** Ten years, because a local stack may live long, and an hour back for clocks that differ. */
const VALIDITY = { from: -3600_000, to: 3652 * 24 * 3600_000 };

/**
 * Makes a certificate that may sign content credentials, and an authority that only it has. Readers of such
 * credentials trust neither, and the subject says so. `extendedKeyUsage`, `validity` (ms from now) and `key` are for
 * tests of other certificates.
 */
export async function createSigningCertificate(
  options: {
    readonly key?: keyof typeof KEYS;
    readonly extendedKeyUsage?: readonly string[];
    readonly validity?: { readonly from: number; readonly to: number };
  } = {},
): Promise<SigningCertificate> {
  const {
    key = 'ES256',
    extendedKeyUsage = [ExtendedKeyUsage.emailProtection],
    validity = VALIDITY,
  } = options;
  const algorithm = KEYS[key];
  const root = await keyPair(KEYS.ES256);
  const signer = await keyPair(algorithm);
  const rootName = 'O=LipSync on this machine, CN=Self-made root (not trusted)';
  const make = async (subject: string, publicKey: webcrypto.CryptoKey, extensions: Extension[]) =>
    X509CertificateGenerator.create({
      serialNumber: `01${randomBytes(8).toString('hex')}`,
      subject,
      issuer: rootName,
      notBefore: new Date(Date.now() + validity.from),
      notAfter: new Date(Date.now() + validity.to),
      publicKey,
      signingKey: root.privateKey,
      signingAlgorithm: KEYS.ES256,
      extensions: [
        ...extensions,
        await SubjectKeyIdentifierExtension.create(publicKey),
        await AuthorityKeyIdentifierExtension.create(root.publicKey),
      ],
    });
  const authority = await make(rootName, root.publicKey, [
    new BasicConstraintsExtension(true, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
  ]);
  const certificate = await make('O=LipSync on this machine, CN=Self-made (not trusted)', signer.publicKey, [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([...extendedKeyUsage]),
  ]);
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', signer.privateKey);
  const pem = (made: { toString(format: 'pem'): string }): string => `${made.toString('pem')}\n`;
  return {
    chain: pem(certificate) + pem(authority),
    key: `${PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
    authority: pem(authority),
  };
}

async function keyPair(algorithm: (typeof KEYS)[keyof typeof KEYS]): Promise<webcrypto.CryptoKeyPair> {
  const made = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  if (!('privateKey' in made)) throw new Error('a key without its half');
  return made;
}
