import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const FORMAT_VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** Encrypts small secrets at rest. A box can only be opened with the master key and context it was sealed with. */
export interface SecretBox {
  /** `context` identifies the owner of the secret (a customer id), so that a row copied elsewhere cannot be opened. */
  seal(secret: string, context: string): Uint8Array<ArrayBuffer>;
  /** @throws SecretBoxError if the key or context differs or the bytes were changed */
  open(box: Uint8Array, context: string): string;
  /** Seals the same secret with the present key; null if the box already uses that key. Throws like `open`. */
  reseal(box: Uint8Array, context: string): Uint8Array<ArrayBuffer> | null;
}

/** The box could not be opened. Does not say why, because every cause means the same to the caller. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

/**
 * AES-256-GCM with a random nonce per box. Layout: version (1), nonce (12), tag (16), ciphertext. Keys are 64 hex
 * digits. The first (MASTER_KEY) seals; the other (MASTER_KEY_PREVIOUS) can still open, so that the first can be
 * replaced without an interruption.
 */
export function createSecretBox(masterKeyHex: string, previousKeyHex?: string): SecretBox {
  const key = keyOf(masterKeyHex);
  const previous = previousKeyHex === undefined ? null : keyOf(previousKeyHex);
  const openWithPrevious = (box: Uint8Array, context: string): string => {
    const secret = previous === null ? null : open(previous, box, context);
    if (secret === null) throw new SecretBoxError('the secret box does not open');
    return secret;
  };
  return {
    seal: (secret, context) => seal(key, secret, context),
    open: (box, context) => open(key, box, context) ?? openWithPrevious(box, context),
    reseal: (box, context) =>
      open(key, box, context) === null ? seal(key, openWithPrevious(box, context), context) : null,
  };
}

function keyOf(hex: string): Buffer {
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new SecretBoxError('the master key must be 64 hex digits');
  return Buffer.from(hex, 'hex');
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

/** Returns null if the key or context differs, or if the bytes were changed. */
function open(key: Buffer, box: Uint8Array, context: string): string | null {
  if (box.length < HEADER_BYTES || box[0] !== FORMAT_VERSION) throw new SecretBoxError('not a secret box');
  try {
    const decipher = createDecipheriv(ALGORITHM, key, box.subarray(1, 1 + NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(context, 'utf8'));
    decipher.setAuthTag(box.subarray(1 + NONCE_BYTES, HEADER_BYTES));
    return Buffer.concat([decipher.update(box.subarray(HEADER_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
