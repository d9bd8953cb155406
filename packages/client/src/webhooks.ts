import { LipSyncError } from './errors';
import { type WebhookEvent } from './resources';

export type WebhookVerificationReason =
  | 'missing_header'
  | 'malformed_signature'
  | 'wrong_signature'
  | 'timestamp_out_of_tolerance'
  | 'body_too_large'
  | 'malformed_event';

/** A delivery that is not to be trusted. Answer it with 400. */
export class WebhookVerificationError extends LipSyncError {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly reason: WebhookVerificationReason,
    message: string,
  ) {
    super(message);
  }
}

export interface VerifyOptions {
  /** How far the signature's time may be from `now`, in either direction; 300. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970. */
  now?: number;
}

/** The request's headers: those of fetch, or an object with names in any case. */
export type WebhookHeaders =
  Headers | Readonly<globalThis.Record<string, string | readonly string[] | undefined>>;

/** What a request brings: its body as it was received, or the stream of it, which is read here. */
export type WebhookBody = string | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | null;

/** At most four signatures: a sender needs no more than two, while it replaces a secret. */
const SIGNATURE = /^t=(\d{1,12})((?:,v1=[0-9a-f]{64}){1,4})$/;
/** At least 32 bytes: what is shorter can be guessed, and with an empty key anybody can sign. */
const SECRET = /^(?:[0-9a-f]{2}){32,}$/i;
/** Events have a few thousand. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Verifies one delivery of a webhook and returns its event. Pass the body as it was received, or the stream of the
 * request: bytes that went through a JSON parser no longer match. While a signing secret is being replaced, pass both.
 *
 * Anyone who knows the URL can send anything, so the cheap checks come first: the form of the headers, the time, the
 * size of the body (1 MiB at most; a stream is read no further). Then one HMAC is computed per secret.
 * @throws WebhookVerificationError if the delivery is not to be trusted
 * @throws TypeError if the arguments are wrong, such as a parsed body or a secret that is too short
 */
export async function verifyWebhook(
  rawBody: WebhookBody,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const keys = [secrets].flat().map(keyBytes);
  if (keys.length === 0) throw new TypeError('Pass at least one signing secret');
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0)
    throw new TypeError('toleranceSeconds must be a number of seconds, 0 or more');
  if (!Number.isFinite(now)) throw new TypeError('now must be a number of milliseconds since 1970');

  const [, timestamp = '', list = ''] = SIGNATURE.exec(headerOf(headers, 'svc-signature')) ?? [];
  if (timestamp === '')
    throw new WebhookVerificationError('malformed_signature', 'Svc-Signature is malformed');
  const deliveryId = headerOf(headers, 'svc-delivery-id');
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError(
      'timestamp_out_of_tolerance',
      `The webhook was signed more than ${toleranceSeconds} s from now`,
    );

  const body = await bytesOf(rawBody);
  const signed = concatenated(new TextEncoder().encode(`${timestamp}.${deliveryId}.`), body);
  const signatures = list.split(',v1=').slice(1).map(fromHex);
  if (!(await isSigned(signed, signatures, keys)))
    throw new WebhookVerificationError('wrong_signature', 'The webhook was not signed with this secret');
  return eventOf(body);
}

function keyBytes(secret: string): Uint8Array<ArrayBuffer> {
  if (SECRET.test(secret)) return fromHex(secret);
  throw new TypeError('A signing secret is a hexadecimal string of at least 64 digits');
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError('missing_header', `The header ${name} is missing`);
}

/** @throws WebhookVerificationError before a body that is too large is copied */
async function bytesOf(rawBody: WebhookBody): Promise<Uint8Array> {
  if (rawBody === null) return new Uint8Array();
  if (typeof rawBody === 'string') {
    // UTF-8 has at least one byte for each of JavaScript's characters.
    checkSize(rawBody.length);
    return bytesOf(new TextEncoder().encode(rawBody));
  }
  if (rawBody instanceof ArrayBuffer) return bytesOf(new Uint8Array(rawBody));
  if (rawBody instanceof Uint8Array) {
    checkSize(rawBody.length);
    return rawBody;
  }
  if (rawBody instanceof ReadableStream) return readBody(rawBody);
  throw new TypeError('Pass the raw body: a string, bytes or a stream, before any JSON parser');
}

async function readBody(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const reader = stream.getReader();
  // One buffer, because a sender may cut a body into chunks of one byte.
  const body = new Uint8Array(MAX_BODY_BYTES);
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return body.subarray(0, size);
      checkSize(size + value.length);
      body.set(value, size);
      size += value.length;
    }
  } catch (error) {
    await reader.cancel(error).catch(() => undefined);
    throw error;
  }
}

function checkSize(bytes: number): void {
  if (bytes > MAX_BODY_BYTES)
    throw new WebhookVerificationError('body_too_large', `No event has more than ${MAX_BODY_BYTES} bytes`);
}

/** One HMAC per secret, one after the other: Web Crypto copies what it signs. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array[],
  keys: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ]);
    const expected = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
    if (signatures.some((signature) => isEqual(signature, expected))) return true;
  }
  return false;
}

/** In a time that does not tell where two byte sequences of the same length differ. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.reduce((difference, byte, i) => difference | (byte ^ (b[i] ?? 0)), 0) === 0;
}

function eventOf(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('malformed_event', 'The body is not JSON');
  }
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

function concatenated(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
