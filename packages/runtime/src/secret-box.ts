import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const FORMAT_VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** Encrypts small secrets at rest. A box opens only under the master key and context it was sealed with. */
export interface SecretBox {
  /** `context` names what the secret belongs to (a customer id), so that a row copied elsewhere does not open. */
  seal(secret: string, context: string): Uint8Array<ArrayBuffer>;
  /** Throws `SecretBoxError` when the key or context differs or the bytes were changed. */
  open(box: Uint8Array, context: string): string;
}

/** The box could not be opened. Says nothing about why: every cause means the same to the caller. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

/**
 * AES-256-GCM with a random nonce per box. Layout: version (1), nonce (12), tag (16), ciphertext.
 * `masterKeyHex` is 64 hex digits (MASTER_KEY).
 */
export function createSecretBox(masterKeyHex: string): SecretBox {
  if (!/^[0-9a-f]{64}$/i.test(masterKeyHex)) throw new SecretBoxError('the master key must be 64 hex digits');
  const key = Buffer.from(masterKeyHex, 'hex');
  return {
    seal: (secret, context) => seal(key, secret, context),
    open: (box, context) => open(key, box, context),
  };
}

function seal(key: Buffer, secret: string, context: string): Uint8Array<ArrayBuffer> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return new Uint8Array(
    Buffer.concat([Buffer.from([FORMAT_VERSION]), nonce, cipher.getAuthTag(), ciphertext]),
  );
}

function open(key: Buffer, box: Uint8Array, context: string): string {
  if (box.length < HEADER_BYTES || box[0] !== FORMAT_VERSION) throw new SecretBoxError('not a secret box');
  try {
    const decipher = createDecipheriv(ALGORITHM, key, box.subarray(1, 1 + NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(context, 'utf8'));
    decipher.setAuthTag(box.subarray(1 + NONCE_BYTES, HEADER_BYTES));
    return Buffer.concat([decipher.update(box.subarray(HEADER_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    throw new SecretBoxError('the secret box does not open');
  }
}
