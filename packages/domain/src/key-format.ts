import { createHash } from 'node:crypto';

const PREFIX = 'svc_';
const KEY_BYTES = 32;
const API_KEY = /^svc_[0-9a-f]{64}$/i;

/**
 * Writes an API key.
 * @param random 32 random bytes
 */
export function formatApiKey(random: Uint8Array): string {
  if (random.length !== KEY_BYTES) throw new RangeError(`An API key needs ${KEY_BYTES} random bytes`);
  return `${PREFIX}${Buffer.from(random).toString('hex')}`;
}

/** Says whether a string has the form of an API key. Anything else needs no lookup. */
export function isApiKey(value: string): boolean {
  return API_KEY.test(value);
}

/** What is stored of a key: its SHA-256 in hex. A slow hash is not needed, because the key itself is random. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The last characters of a key, by which a person recognises it in a list. */
export function lastFourOf(key: string): string {
  return key.slice(-4);
}
