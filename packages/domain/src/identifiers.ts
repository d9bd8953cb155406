import { createHash } from 'node:crypto';
import { type OperationId } from '@lipsync/contract';

/** The kinds of ids, each with its prefix. */
export const ID_PREFIXES = {
  render: 'ren',
  preparation: 'prp',
  asset: 'ast',
  upload: 'upl',
  webhookEvent: 'evt',
  delivery: 'dlv',
  job: 'job',
  engineRun: 'run',
  customer: 'cus',
  apiKey: 'key',
  webhookSecret: 'sec',
  auditRow: 'aud',
} as const;

export type IdPrefix = (typeof ID_PREFIXES)[keyof typeof ID_PREFIXES];

/** Crockford's base 32 without i, l, o and u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const BODY = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/**
 * Makes an id: the prefix, an underscore and a lowercase ULID, so that ids of one kind sort by creation time.
 * @param nowMs milliseconds since 1970
 * @param random 10 random bytes
 */
export function newId(prefix: IdPrefix, nowMs: number, random: Uint8Array): string {
  return `${prefix}_${encodeTime(nowMs)}${encodeBytes(random)}`;
}

/** Says whether a string is a well-formed id of this kind. The API answers a malformed id like an unknown one. */
export function isId(prefix: IdPrefix, value: string): boolean {
  return value.startsWith(`${prefix}_`) && BODY.test(value.slice(prefix.length + 1));
}

function encodeTime(milliseconds: number): string {
  let rest = milliseconds;
  let text = '';
  for (let i = 0; i < TIME_CHARACTERS; i += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Five bits per character, most significant first. The bytes must hold a whole number of characters. */
function encodeBytes(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET.charAt((held >> (bits - 5)) & 31);
  }
  return text;
}

const PREFIX = 'svc_';
const KEY_BYTES = 32;
const API_KEY = /^svc_[0-9a-fA-F]{64}$/;

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

/** The last characters of a key, by which a person recognizes it in a list. */
export function lastFourOf(key: string): string {
  return key.slice(-4);
}

const KEY_PROPERTY = 'idempotency_key';

/**
 * Identifies the payload of a create request. Equal JSON gives equal fingerprints, whatever the order of its properties
 * and whether the idempotency key came in the header or in the body. Different operations give different fingerprints.
 * @returns SHA-256 in hex
 */
export function fingerprint(operationId: OperationId, body: object): string {
  const payload = Object.entries(body).filter(([key]) => key !== KEY_PROPERTY);
  const text = JSON.stringify([operationId, canonical(Object.fromEntries(payload))]);
  return createHash('sha256').update(text).digest('hex');
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, canonical(entry)]));
}
