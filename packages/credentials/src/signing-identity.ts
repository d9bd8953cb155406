import {
  constants,
  createPrivateKey,
  type KeyObject,
  sign,
  X509Certificate as NodeCertificate,
} from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate,
} from '@peculiar/x509';
import type { CoseAlgorithmIdentifier, Signer } from '@trustnxt/c2pa-ts/cose';

/** Why an output cannot be signed, in words for an operator. Never contains a key. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}

/** A certificate with its chain and private key, checked by `signingIdentity`. */
export interface SigningIdentity extends Signer {
  /** Length of every signature, in bytes. */
  readonly signatureBytes: number;
  /** Who signs, as the certificate says: one line. */
  readonly subject: string;
  /** The first of the chain's certificates to expire ends it. */
  readonly expiresAt: Date;
}

/** Extended key usages by which C2PA lets a certificate sign: e-mail protection, document signing, C2PA claims. */
const SIGNING_USAGES = ['1.3.6.1.5.5.7.3.4', '1.3.6.1.5.5.7.3.36', '1.3.6.1.4.1.62558.2.1'];

/** Usages with which a certificate may not sign: any, time stamping, OCSP signing. */
const REFUSED_USAGES = ['2.5.29.37.0', '1.3.6.1.5.5.7.3.8', '1.3.6.1.5.5.7.3.9'];

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads a signer from PEM: the certificates, the signer's first and each followed by its issuer, and the key of the
 * first. Follows the certificate profile of C2PA 2.2 (section 14.5.1). @throws CredentialsError that says what is wrong
 */
export function signingIdentity(chainPem: string, keyPem: string, now: Date): SigningIdentity {
  const pems = chainPem.match(PEM_CERTIFICATE) ?? [];
  const chain = pems.map((pem) => readCertificate(pem));
  const [leaf, issuer] = chain;
  if (leaf === undefined) throw new CredentialsError('there is no PEM certificate');
  const key = readKey(keyPem);
  if (!leaf.node.checkPrivateKey(key))
    throw new CredentialsError('the key is not the key of the certificate');
  checkUse(leaf);
  if (issuer === undefined)
    throw new CredentialsError('the certificate has no chain: its issuers must follow it');
  chain.slice(1).forEach(({ node }, i) => {
    const issued = chain[i]?.node;
    if (issued === undefined || !issued.checkIssued(node) || !issued.verify(node.publicKey))
      throw new CredentialsError(`certificate ${i + 2} of the chain did not issue the one before it`);
  });
  for (const { parsed } of chain) checkValidity(parsed, now);

  const { algorithm, hash, signatureBytes } = signatureOf(key);
  return {
    certificate: leaf.parsed,
    chainCertificates: chain.slice(1).map(({ parsed }) => parsed),
    algorithm,
    signatureBytes,
    subject: leaf.parsed.subject,
    expiresAt: new Date(Math.min(...chain.map(({ parsed }) => parsed.notAfter.getTime()))),
    sign: (payload) =>
      Promise.resolve(
        new Uint8Array(sign(hash, payload, { key, dsaEncoding: 'ieee-p1363', ...paddingOf(key) })),
      ),
  };
}

interface Certificate {
  readonly node: NodeCertificate;
  readonly parsed: X509Certificate;
}

function readCertificate(pem: string): Certificate {
  try {
    return { node: new NodeCertificate(pem), parsed: new X509Certificate(pem) };
  } catch (error) {
    throw new CredentialsError('a certificate cannot be read', { cause: error });
  }
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // Without the cause, which may quote the key.
    throw new CredentialsError('the key cannot be read: it must be PEM, and not encrypted');
  }
}

function checkUse({ node, parsed }: Certificate): void {
  if (parsed.getExtension(BasicConstraintsExtension)?.ca === true)
    throw new CredentialsError('the certificate is that of an authority, which may not sign outputs itself');
  if (node.subject === node.issuer)
    throw new CredentialsError(
      'the certificate is signed by itself; C2PA requires one that an authority issued',
    );
  if (parsed.getExtension(AuthorityKeyIdentifierExtension) === null)
    throw new CredentialsError('the certificate does not name the key of its issuer');
  const uses = parsed.getExtension(KeyUsagesExtension)?.usages ?? 0;
  if ((uses & KeyUsageFlags.digitalSignature) === 0)
    throw new CredentialsError('the certificate may not be used for digital signatures');
  const extended = node.keyUsage ?? [];
  if (!extended.some((use) => SIGNING_USAGES.includes(use)))
    throw new CredentialsError(
      `the certificate's extended key usage is ${extended.join(', ') || 'missing'}; it must contain one of ${SIGNING_USAGES.join(', ')}`,
    );
  const refused = extended.find((use) => REFUSED_USAGES.includes(use));
  if (refused !== undefined)
    throw new CredentialsError(
      `the certificate's extended key usage contains ${refused}, which C2PA refuses`,
    );
}

function checkValidity({ subject, notBefore, notAfter }: X509Certificate, now: Date): void {
  if (now > notAfter)
    throw new CredentialsError(`the certificate of ${subject} expired at ${notAfter.toISOString()}`);
  if (now < notBefore)
    throw new CredentialsError(`the certificate of ${subject} is valid only from ${notBefore.toISOString()}`);
}

const RSA_BITS_MIN = 2048;

interface SigningAlgorithm {
  readonly algorithm: CoseAlgorithmIdentifier;
  /** Node's name of the hash; none for Ed25519, which has its own. */
  readonly hash: string | null;
  readonly signatureBytes: number;
}

/** How this key signs: the algorithms of COSE (RFC 9053, section 2.1; RFC 8230 for RSA) that C2PA allows. */
function signatureOf(key: KeyObject): SigningAlgorithm {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'ed25519') return { algorithm: -8, hash: null, signatureBytes: 64 };
  if (type === 'ec') {
    const curve = details?.namedCurve;
    if (curve === 'prime256v1') return { algorithm: -7, hash: 'sha256', signatureBytes: 64 };
    if (curve === 'secp384r1') return { algorithm: -35, hash: 'sha384', signatureBytes: 96 };
    if (curve === 'secp521r1') return { algorithm: -36, hash: 'sha512', signatureBytes: 132 };
  }
  const bits = details?.modulusLength ?? 0;
  if ((type === 'rsa' || type === 'rsa-pss') && bits >= RSA_BITS_MIN)
    return { algorithm: -37, hash: 'sha256', signatureBytes: Math.ceil(bits / 8) };
  throw new CredentialsError(
    'the key must be EC on P-256, P-384 or P-521, Ed25519, or RSA of 2048 bits or more',
  );
}

/** RSASSA-PSS, with a salt as long as the hash. */
function paddingOf({ asymmetricKeyType: type }: KeyObject) {
  return type?.startsWith('rsa') === true
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {};
}
